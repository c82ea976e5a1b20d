import type { FastifyReply, FastifyRequest } from "fastify";

// The pages of others ask font services for their fonts, which would tell a third party who looks at what.
const pagePolicy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'; img-src 'self' data:; form-action 'self'; base-uri 'self'; frame-ancestors 'none'";

const headers = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // Answers hold what a tenant's jobs said; a route whose answer may be kept says so.
  "cache-control": "no-store",
};

/**
 * What a browser is told about every answer. There are no CORS headers and no preflight, so that another site's script reads and writes nothing
 * here.
 *
 * @param hstsSeconds how long a browser is to insist on TLS; 0 where the API is not behind TLS
 */
export function securityHeaders(
  hstsSeconds: number,
): (request: FastifyRequest, reply: FastifyReply, payload: unknown) => Promise<unknown> {
  const hsts = hstsSeconds > 0 && { "strict-transport-security": `max-age=${hstsSeconds}; includeSubDomains` };
  return async ({ routeOptions }, reply, payload) => {
    const isPage = routeOptions.config?.isPage === true;
    const policy = isPage ? pagePolicy : "default-src 'none'; frame-ancestors 'none'";
    for (const [name, value] of Object.entries({ ...headers, ...hsts, "content-security-policy": policy })) {
      if (!reply.hasHeader(name)) reply.header(name, value);
    }
    return payload;
  };
}
