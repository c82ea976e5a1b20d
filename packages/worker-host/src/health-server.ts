import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { CheckParts } from "@millrace/health";
import type { Registry } from "@millrace/metrics";

export interface HealthServer {
  readonly url: string;
  close(): Promise<void>;
}

/** What a process tells of its health. */
export interface Health {
  /** Whether only another process in its place helps. */
  isWedged(): boolean;
  /** Whether it was told to stop: what runs goes on, and nothing new begins. */
  isDraining(): boolean;
  /** What its work needs, and whether it is there. */
  readonly checkParts: CheckParts;
  readonly metrics: Pick<Registry, "contentType" | "metrics">;
}

/**
 * `/livez` (200 or 503) says whether the process can still work, so that its platform may put another in its place; `/readyz` (200 or 503)
 * that it does its work, and which part is missing; `/metrics` is for Prometheus. Nothing else is served.
 *
 * @param port 0 takes any free one
 */
export async function startHealthServer(host: string, port: number, health: Health): Promise<HealthServer> {
  const server = createServer((request, response) => {
    // What a metric throws must not end the process, which does its work.
    answer(request.url, response, health).catch(() => response.destroy());
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

async function answer(url: string | undefined, response: ServerResponse, health: Health): Promise<void> {
  switch (url?.split("?")[0]) {
    case "/livez":
      return health.isWedged()
        ? sendJson(response, 503, { status: "wedged" })
        : sendJson(response, 200, { status: "ok" });
    case "/readyz":
      return sendReadiness(response, health);
    case "/metrics": {
      const text = await health.metrics.metrics();
      response.writeHead(200, { "content-type": health.metrics.contentType }).end(text);
      return;
    }
    default:
      return sendJson(response, 404, { status: "not found" });
  }
}

async function sendReadiness(response: ServerResponse, health: Health): Promise<void> {
  const parts = Object.entries(await health.checkParts());
  const states = Object.fromEntries(parts.map(([name, isThere]) => [name, isThere ? "ok" : "unavailable"]));
  if (health.isDraining()) return sendJson(response, 503, { status: "draining", ...states });
  const isReady = parts.every(([, isThere]) => isThere);
  sendJson(response, isReady ? 200 : 503, { status: isReady ? "ok" : "unavailable", ...states });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
