import { createServer, type IncomingMessage, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { createWebhookSecret, verifyWebhook } from "@millrace/webhooks";
import { listenLocally } from "./listen-locally.ts";
import { json, page, refusalOf } from "./local-http.ts";
import type { ReceivedWebhook } from "./received-webhook.ts";
import { renderReceiver } from "./receiver-page.ts";

export interface Receiver {
  /** Where webhooks are to be sent: `http://127.0.0.1:<port>/hooks`. */
  readonly url: string;
  /** What they are to be signed with; another one at each start. */
  readonly secret: string;
  /** Where the page is. */
  readonly httpUrl: string;
  /** Newest first, 200 at most. */
  webhooks(): readonly ReceivedWebhook[];
  stop(): Promise<void>;
}

export interface ReceiverOptions {
  /** Defaults to 0, any free port. */
  readonly port?: number;
  /** Whether a wanted port that is taken gives way to a free one. Defaults to false: it is an error. */
  readonly fallBackToFreePort?: boolean;
}

// More than anybody reads, and little enough for the memory of a process that runs all day.
const capacity = 200;

/**
 * A receiver of webhooks on 127.0.0.1 that verifies what it gets, keeps it in memory and shows it on a page. It answers 204, and what the
 * last part of the path says where that is a status: `/hooks/500` fails, `/hooks/429` asks for patience, `/hooks/410` is gone.
 *
 * @throws Error that names the port and its variable when a wanted port is taken
 */
export async function startReceiver({ port = 0, fallBackToFreePort = false }: ReceiverOptions = {}): Promise<Receiver> {
  const secret = createWebhookSecret();
  const received: ReceivedWebhook[] = [];
  let count = 0;
  const server = createReceiverServer(
    received,
    () => `${httpUrl}/hooks`,
    (request, body) => {
      count += 1;
      const webhook = toWebhook(String(count), request, body, secret);
      received.unshift(webhook);
      received.splice(capacity);
      return webhook;
    },
  );
  const httpUrl = `http://127.0.0.1:${await listenLocally(server, port, fallBackToFreePort, "DEV_RECEIVER_HTTP_PORT")}`;
  return {
    url: `${httpUrl}/hooks`,
    secret,
    httpUrl,
    webhooks: () => received,
    stop: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The page at `/`, the webhooks as JSON at `/webhooks.json`; whatever is posted to `/hooks` and below is one. */
function createReceiverServer(
  received: ReceivedWebhook[],
  url: () => string,
  take: (request: IncomingMessage, body: string) => ReceivedWebhook,
): Server {
  return createServer(async (request, response) => {
    const refusal = refusalOf(request);
    if (refusal) return json(response, 403, { error: refusal });
    const path = URL.parse(`http://receiver${request.url}`)?.pathname ?? "";
    if (request.method === "POST" && /^\/hooks(\/|$)/.test(path)) {
      // A sender that went away in the middle has sent nothing.
      const body = await text(request).catch(() => undefined);
      if (body === undefined) return;
      const { status } = take(request, body);
      return void response.writeHead(status, status === 429 || status === 503 ? { "retry-after": "5" } : {}).end();
    }
    switch (`${request.method} ${path}`) {
      case "GET /":
        return page(response, renderReceiver(received, url()));
      case "GET /webhooks.json":
        return json(response, 200, received);
      default:
        return json(response, 404, { error: "there are /, /webhooks.json, and POST /hooks" });
    }
  });
}

function toWebhook(id: string, { url = "", headers }: IncomingMessage, body: string, secret: string): ReceivedWebhook {
  const last = Number(/\/([2-5]\d\d)$/.exec(url)?.[1] ?? 204);
  const shown = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
  return {
    id,
    receivedAt: new Date().toISOString(),
    path: url,
    signature: verdictOn({ headers, body, secret }),
    status: last,
    headers: Object.fromEntries(shown),
    body,
  };
}

function verdictOn({
  headers,
  body,
  secret,
}: {
  headers: IncomingMessage["headers"];
  body: string;
  secret: string;
}): string {
  try {
    verifyWebhook(headers, body, secret);
    return "verified";
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "not verified";
    // Rightly signed for another endpoint, as far as this receiver can know: it has one secret, and no other endpoint's.
    return code === "signature_mismatch" ? "signed with another secret than the receiver's" : code;
  }
}
