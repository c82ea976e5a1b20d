import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { sendProblem } from "./problem.ts";

type OnRequest = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>;

/**
 * Lets a request pass that carries one of the keys: `Authorization: Bearer <key>`, and where a person looks at pages also Basic, with
 * any name and the key as the password.
 */
export function authenticate(apiKeys: readonly string[], { allowBasic }: { allowBasic: boolean }): OnRequest {
  // Digests have one length, which the constant-time comparison needs.
  const known = apiKeys.map(digest);
  return async (request, reply) => {
    const given = readKey(request.headers.authorization ?? "", allowBasic);
    if (given !== undefined) {
      const givenDigest = digest(given);
      if (known.filter((key) => timingSafeEqual(key, givenDigest)).length > 0) return undefined;
    }
    reply.header(
      "www-authenticate",
      allowBasic ? 'Basic realm="Millrace", charset="UTF-8"' : 'Bearer realm="Millrace"',
    );
    return sendProblem(reply, {
      status: 401,
      title: "Unauthorized",
      code: "unauthorized",
      detail: `Expected the header "Authorization: Bearer <key>" with one of API_KEYS, got ${given === undefined ? "none" : "another key"}.`,
    });
  };
}

/** The key that a request's `authorization` header carries, right or wrong. */
export function readKey(header: string, allowBasic: boolean): string | undefined {
  const [, scheme, credentials] = /^(\w+) +(.+)$/.exec(header) ?? [];
  if (credentials === undefined) return undefined;
  if (scheme?.toLowerCase() === "bearer") return credentials.trim();
  if (allowBasic && scheme?.toLowerCase() === "basic") {
    const decoded = Buffer.from(credentials, "base64").toString();
    return decoded.slice(decoded.indexOf(":") + 1);
  }
  return undefined;
}

function digest(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}
