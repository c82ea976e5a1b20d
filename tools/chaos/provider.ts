import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";

/** What a worker asks for. With a key the effect happens once, however often it is asked for. */
export const requestSchema = z.object({
  jobId: z.string(),
  idempotencyKey: z.string().optional(),
  /** The first such request of a job is answered with 429. */
  isThrottled: z.boolean(),
});

export interface Effect {
  readonly receipt: string;
  /** The job of each request, in order. */
  readonly askedBy: string[];
}

/** The world outside the queue: where effects happen and are remembered, whoever is killed. */
export interface Provider {
  readonly url: string;
  /** By idempotency key, else by job. */
  readonly effects: ReadonlyMap<string, Effect>;
  /** The jobs that were asked for patience. */
  readonly throttled: ReadonlySet<string>;
  close(): void;
}

// The moment between an effect and its record, in which a kill hits both: wide enough to be hit in a minute.
const answerAfterMs = 20;

/** Behaves as a payment provider does: a key that it has seen before gets the first answer, and no second effect. */
export async function startProvider(): Promise<Provider> {
  const effects = new Map<string, Effect>();
  const throttled = new Set<string>();

  async function answer(body: string): Promise<{ status: number; receipt?: string }> {
    const { jobId, idempotencyKey, isThrottled } = requestSchema.parse(JSON.parse(body));
    if (isThrottled && !throttled.has(jobId)) {
      throttled.add(jobId);
      return { status: 429 };
    }
    const key = idempotencyKey ?? jobId;
    const effect = effects.get(key) ?? { receipt: `receipt-${effects.size}`, askedBy: [] };
    effect.askedBy.push(jobId);
    effects.set(key, effect);
    await wait(answerAfterMs);
    return { status: 200, receipt: effect.receipt };
  }

  const server = createServer(async (request, response) => {
    // A worker that was killed in the middle of its request asked for nothing.
    const body = await read(request).catch(() => undefined);
    if (body === undefined) return;
    const { status, receipt } = await answer(body);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ receipt }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on host and port has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    effects,
    throttled,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function read(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  return body;
}
