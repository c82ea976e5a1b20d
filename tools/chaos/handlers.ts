import { setTimeout as wait } from "node:timers/promises";
import { type HandlersOf, type JobContext, PermanentError, RateLimitedError } from "@millrace/worker-host";
import { z } from "zod";
import type { chaosContract } from "./contract.ts";
import type { requestSchema } from "./provider.ts";

const answerSchema = z.object({ receipt: z.string() });

/** The handlers, all of whose effects happen at the provider. */
export function createHandlers(providerUrl: string): HandlersOf<typeof chaosContract> {
  const ask = async ({ jobId, idempotencyKey, signal }: JobContext, isThrottled = false) => {
    const request: z.input<typeof requestSchema> = { jobId, idempotencyKey, isThrottled };
    const response = await fetch(providerUrl, { method: "POST", body: JSON.stringify(request), signal });
    if (response.status === 429) throw new RateLimitedError("The provider asks for patience.", { retryAfterMs: 200 });
    return answerSchema.parse(await response.json());
  };
  return {
    plain: async (_, context) => {
      await ask(context);
    },
    flaky: async ({ failures }, context) => {
      if (context.attempt <= failures) throw new Error(`Attempt ${context.attempt} of a flaky job.`);
      await ask(context);
    },
    refused: async () => {
      throw new PermanentError("Refused.", { code: "refused" });
    },
    throttled: async (_, context) => {
      await ask(context, true);
    },
    charge: async (_, context) => ask(context),
    slow: async ({ takesMs }, context) => {
      await wait(takesMs, undefined, { signal: context.signal });
      await ask(context);
    },
  };
}
