import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

// Whoever has just connected sends its first byte sooner.
const sweepEveryMs = 200;

/**
 * Lets a server close while somebody holds a connection over which nothing has come, as browsers and proxies open them ahead: Node counts such a
 * one as busy, and would wait a minute for its first request. Call it before the server listens.
 */
export function closeUnusedConnections(app: FastifyInstance): void {
  const open = new Set<Socket>();
  app.server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  app.addHook("preClose", async () => {
    if (!app.server.listening) return;
    const sweep = setInterval(() => {
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    }, sweepEveryMs);
    app.server.once("close", () => clearInterval(sweep));
  });
}
