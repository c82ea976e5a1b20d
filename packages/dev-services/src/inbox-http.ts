import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Mailbox } from "./inbox-mailbox.ts";
import { pagePolicy, renderInbox } from "./inbox-page.ts";

/** The page at `/`, the mails as JSON at `/messages.json` and `/messages/<id>.json`; DELETE on the former empties the inbox. */
export function createInboxServer(mailbox: Mailbox, smtpUrl: () => string): Server {
  return createServer((request, response) => {
    const refusal = refusalOf(request);
    if (refusal) return json(response, 403, { error: refusal });
    // Put together, not resolved: `//elsewhere/` is a path here, and no address of another host.
    const url = URL.parse(`http://inbox${request.url}`);
    const oneMessage = /^\/messages\/(\d+)\.json$/.exec(url?.pathname ?? "")?.[1];
    switch (`${request.method} ${oneMessage ? "/message" : url?.pathname}`) {
      case "GET /":
        return page(response, renderInbox(mailbox.list(), smtpUrl(), url?.searchParams.get("open") ?? null));
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

/** Keeps foreign pages out: those that made a name of theirs point here, and those that send a form here. */
function refusalOf({ headers: { host = "", origin } }: IncomingMessage): string | undefined {
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host)) return "expected the host 127.0.0.1 or localhost";
  if (origin !== undefined && origin !== `http://${host}`) return `expected a request from http://${host}`;
  return undefined;
}

function json(response: ServerResponse, status: number, body: unknown): void {
  const headers = { "content-type": "application/json; charset=utf-8", "x-content-type-options": "nosniff" };
  response.writeHead(status, headers).end(JSON.stringify(body, null, 2));
}

function page(response: ServerResponse, html: string): void {
  const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": pagePolicy };
  response.writeHead(200, { ...headers, "x-content-type-options": "nosniff" }).end(html);
}
