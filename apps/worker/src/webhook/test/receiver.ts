import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll } from "vitest";

export interface ReceivedWebhook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface TestReceiver {
  url(path: string): string;
  /** What came to a path so far. */
  received(path: string): readonly ReceivedWebhook[];
}

/** A receiver of webhooks on this machine, for the tests of one file. `answer` ends the response, or does not. */
export async function startReceiver(
  answer: (webhook: ReceivedWebhook, response: ServerResponse) => unknown,
): Promise<TestReceiver> {
  const all: ReceivedWebhook[] = [];
  const server = createServer(async (request, response) => {
    // A sender that went away in the middle has sent nothing.
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const webhook = { path: request.url ?? "", headers: request.headers, body };
    all.push(webhook);
    await answer(webhook, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    received: (path) => all.filter((webhook) => webhook.path === path),
  };
}
