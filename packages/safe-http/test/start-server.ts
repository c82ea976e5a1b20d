import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { afterAll } from "vitest";

/** A real HTTP server on this machine for the tests of a file. Counts who connects, whatever they ask. */
export async function startServer(listener: RequestListener): Promise<{ port: number; connections(): number }> {
  const server = createServer(listener);
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  server.listen(0);
  await once(server, "listening");
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: portOf(server.address()), connections: () => connections };
}

/** A server below HTTP, which says what it likes. */
export async function startTcpServer(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return portOf(server.address());
}

function portOf(address: ReturnType<ReturnType<typeof createTcpServer>["address"]>): number {
  if (address === null || typeof address === "string") throw new Error("expected a port");
  return address.port;
}
