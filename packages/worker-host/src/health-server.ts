import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface HealthServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * `/livez` says that the process runs its event loop, `/readyz` (200 or 503) that it does its work, and which part is missing. Nothing
 * else is served.
 *
 * @param port 0 takes any free one
 * @param checkParts what the work needs, by name, and whether it is there
 */
export async function startHealthServer(
  host: string,
  port: number,
  checkParts: () => Promise<Record<string, boolean>>,
): Promise<HealthServer> {
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.url === "/livez") return answer(200, { status: "ok" });
    if (request.url !== "/readyz") return answer(404, { status: "not found" });
    const parts = Object.entries(await checkParts());
    const isReady = parts.every(([, isThere]) => isThere);
    const states = Object.fromEntries(parts.map(([name, isThere]) => [name, isThere ? "ok" : "unavailable"]));
    answer(isReady ? 200 : 503, { status: isReady ? "ok" : "unavailable", ...states });
  });
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, host, resolve);
  await listening;
  // A probe must not keep a process alive that has nothing else to do.
  server.unref();
  // A server that listens on host and port has an address of this form.
  const { port: boundPort } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${boundPort}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
