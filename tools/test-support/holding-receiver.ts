import { once } from "node:events";
import { createServer } from "node:http";

export interface HoldingReceiver {
  readonly url: string;
  /** Resolves when a webhook is there and its sender waits for the answer. */
  readonly webhookSent: Promise<void>;
  /** Answers the webhook that waits. */
  accept(): void;
  close(): void;
}

/** A receiver of webhooks that takes its time: it answers only when told. So a job is held in the middle of its work. */
export async function startHoldingReceiver(): Promise<HoldingReceiver> {
  const { promise: webhookSent, resolve } = Promise.withResolvers<void>();
  let accept = () => {};
  const server = createServer((_, response) => {
    accept = () => response.writeHead(204).end();
    resolve();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, webhookSent, accept: () => accept(), close: () => server.close() };
}
