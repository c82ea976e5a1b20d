import { createServer, type Server } from "node:http";
import type { Mailbox } from "./inbox-mailbox.ts";
import { renderInbox } from "./inbox-page.ts";
import { json, page, refusalOf } from "./local-http.ts";

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
