import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Mailbox } from "./inbox-mailbox.ts";
import { pagePolicy, renderInbox } from "./inbox-page.ts";

/** The page at `/`, the mails as JSON at `/messages.json` and `/messages/<id>.json`; DELETE on the former empties the inbox. */
export function createInboxServer(mailbox: Mailbox, smtpUrl: () => string): Server {
  return createServer((request, response) => {
    const url = URL.parse(request.url ?? "/", "http://inbox");
    if (!isLocal(request) || !url) return json(response, 403, { error: "expected the host 127.0.0.1 or localhost" });
    const oneMessage = /^\/messages\/(\d+)\.json$/.exec(url.pathname)?.[1];
    switch (`${request.method} ${oneMessage ? "/message" : url.pathname}`) {
      case "GET /":
        return page(response, renderInbox(mailbox.list(), smtpUrl(), url.searchParams.get("open")));
      case "GET /messages.json":
        return json(response, 200, mailbox.list());
      case "GET /message": {
        const message = mailbox.list().find(({ id }) => id === oneMessage);
        return message ? json(response, 200, message) : json(response, 404, { error: "no such message" });
      }
      case "DELETE /messages.json":
        mailbox.clear();
        return json(response, 200, []);
      case "POST /clear":
        mailbox.clear();
        return void response.writeHead(303, { location: "/" }).end();
      default:
        return json(response, 404, { error: "there are /, /messages.json and /messages/<id>.json" });
    }
  });
}

/** A name that a foreign page made to point here is not this inbox's name. */
function isLocal(request: IncomingMessage): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(request.headers.host ?? "");
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(body, null, 2));
}

function page(response: ServerResponse, html: string): void {
  const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": pagePolicy };
  response.writeHead(200, { ...headers, "x-content-type-options": "nosniff" }).end(html);
}
