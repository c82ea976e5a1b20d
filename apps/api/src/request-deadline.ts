import { errorCodes, type FastifyInstance } from "fastify";
import { whenOver } from "./response-end.ts";

/**
 * Answers 503 where a handler takes longer than its `handlerTimeout`. The framework has a timer of that name, and it ends as soon as a request's
 * body has been read. What the handler began goes on, and what it answers is dropped.
 */
export function keepDeadlines(app: FastifyInstance): void {
  app.addHook("preHandler", (request, reply, done) => {
    const { handlerTimeout: limitMs, url } = request.routeOptions;
    if (!limitMs) return done();
    const timer = setTimeout(() => {
      const error = new errorCodes.FST_ERR_HANDLER_TIMEOUT(limitMs, url);
      // The framework's timer may have come first, and a stream under way has a limit of its own.
      const isAnswered = reply.sent || reply.raw.headersSent || request.signal.reason?.code === error.code;
      if (!isAnswered) reply.send(error);
    }, limitMs);
    whenOver(reply, () => clearTimeout(timer));
    done();
  });
}
