import { randomUUID } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { sendProblem } from "./problem.ts";
import {
  answerRequest,
  claimRequest,
  digestOf,
  fingerprintOf,
  forgetRequest,
  type KeyedRequest,
} from "./request-store.ts";

/** What a request did, and whether that is how it stays: an answer that is not final is given once and not kept. */
export interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
  readonly isFinal: boolean;
}

/** The header, as a string of https://www.rfc-editor.org/rfc/rfc9651 or without its quotes. */
export const idempotencyHeaders = z.object({
  "idempotency-key": z
    .string()
    .regex(
      /^("[\x20-\x21\x23-\x5b\x5d-\x7e]{1,255}"|[\x21\x23-\x5b\x5d-\x7e]{1,255})$/,
      "expected 1 to 255 printable characters",
    )
    .optional()
    .describe("For a day, the same request with the same key does nothing more and gets the same answer."),
});

/**
 * Carries a request out once per Idempotency-Key, over all processes, as
 * https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/ says: another body under the same key is a 422, a twin of one that
 * is being carried out a 409.
 *
 * @param schema of an answer's body
 * @param act is given what its jobs may be named by: a repetition after an answer that got lost finds the same jobs
 * @returns the answer to send, or nothing when a problem was sent
 */
export async function oncePerKey<Body>(
  request: FastifyRequest,
  reply: FastifyReply,
  schema: z.ZodType<Body>,
  act: (name: string | undefined) => Promise<Answer<Body>>,
): Promise<Pick<Answer<Body>, "status" | "body"> | undefined> {
  const header = request.headers["idempotency-key"];
  if (typeof header !== "string") return act(undefined);
  const { workspaceId, keyId } = request.access;
  const asker = workspaceId === undefined ? ["key", keyId] : ["workspace", workspaceId];
  const scope = [...asker, request.routeOptions.url ?? "", header.replace(/^"(.*)"$/, "$1")];
  const keyed: KeyedRequest = { scope, fingerprint: fingerprintOf(request.body), token: randomUUID() };
  const claim = await claimRequest(keyed);
  switch (claim.state) {
    case "claimed":
      return carryOut(keyed, () => act(`request-${digestOf(scope)}`));
    case "done":
      reply.header("idempotency-replayed", "true");
      return z.object({ status: z.int(), body: schema }).parse(JSON.parse(claim.answer));
    case "busy": {
      const detail =
        "A request with this Idempotency-Key is being carried out. Ask again in a moment, and get its answer.";
      reply.header("retry-after", "1");
      sendProblem(reply, { status: 409, title: "In progress", code: "idempotency_key_in_progress", detail });
      return undefined;
    }
    case "other": {
      const detail = "This Idempotency-Key was used with another body. A new request needs a key of its own.";
      sendProblem(reply, { status: 422, title: "Key used", code: "idempotency_key_used", detail });
      return undefined;
    }
  }
}

async function carryOut<Body>(keyed: KeyedRequest, act: () => Promise<Answer<Body>>): Promise<Answer<Body>> {
  let answer: Answer<Body> | undefined;
  try {
    answer = await act();
    return answer;
  } finally {
    const { status, body } = answer ?? {};
    // Without Redis the key is free again after its lease; what was added is found by its id then.
    const settled = answer?.isFinal ? answerRequest(keyed, JSON.stringify({ status, body })) : forgetRequest(keyed);
    await settled.catch(() => {});
  }
}
