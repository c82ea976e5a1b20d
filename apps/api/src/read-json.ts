import type { FastifyInstance } from "fastify";

/**
 * Reads JSON bodies. No body at all is none, whatever its header announces: many clients send that header with every request. Keys such as `__proto__`
 * pass: the enqueue refuses them and names the field, which the parser's own refusal does not.
 */
export function readJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("ignore", "ignore");
  app.addContentTypeParser<string>("application/json", { parseAs: "string" }, (request, body, done) => {
    if (body === "") done(null, undefined);
    else parse(request, body, done);
  });
}
