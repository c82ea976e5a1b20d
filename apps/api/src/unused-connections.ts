import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

// Who is there at two sweeps and has sent nothing in between has not just connected.
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
    let suspects = new Set<Socket>();
    const sweep = setInterval(() => {
      const unused = [...open].filter(({ bytesRead }) => bytesRead === 0);
      for (const socket of unused) if (suspects.has(socket)) socket.destroy();
      suspects = new Set(unused);
    }, sweepEveryMs);
    app.server.once("close", () => clearInterval(sweep));
  });
}
