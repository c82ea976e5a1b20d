import type { Logger } from "@millrace/logger";
import type { FastifyInstance } from "fastify";

/**
 * Takes no new request and lets those under way come to their end, for as long as the grace. Then their connections are cut, whatever they were
 * about: an upload that drips would hold the process for as long as uploads may take.
 */
export async function closeServer(app: FastifyInstance, graceMs: number, log: Logger): Promise<void> {
  const timer = setTimeout(() => {
    log.warn(
      { code: "requests_cut", graceMs },
      "requests were still under way at the deadline; their connections are cut",
    );
    app.server.closeAllConnections();
  }, graceMs);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}
