import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Door, sendTooManyFailures, tryKey } from "../access/authenticate.ts";
import { escapeHtml } from "../escape-html.ts";
import { sendProblem } from "../problem.ts";

const form = "application/x-www-form-urlencoded";

/** `/login` and `/logout`: how a person comes to the pages. A key is shown once, and a session remembers that it was. */
export async function loginRoutes(app: FastifyInstance, door: Door): Promise<void> {
  const { sessions } = door;
  const config = { access: "public", notAudited: "Nobody is known yet; the log has the request." } as const;
  const schema = { hide: true };
  // Here alone: a form is what another site could send without asking, and no other route takes one.
  app.addContentTypeParser(form, { parseAs: "string", bodyLimit: 4_096 }, (_request, body, done) =>
    done(null, new URLSearchParams(String(body))),
  );
  app.addHook("onRequest", async (request, reply) => {
    if (isFromElsewhere(request)) {
      const detail = "Expected a request from this site's own page, got one from another site.";
      return sendProblem(reply, { status: 403, title: "Forbidden", code: "cross_site", detail });
    }
    return sessions ? undefined : sendSessionsOff(reply);
  });

  app.get<{ Querystring: { next?: string } }>("/login", { config, schema }, async ({ query, headers }, reply) =>
    sendLogin(reply, 200, { next: ownPath(query.next), isLoggedIn: sessions?.read(headers.cookie) !== undefined }),
  );

  app.post("/login", { config, schema }, async ({ body, ip }, reply) => {
    const given = body instanceof URLSearchParams ? body : new URLSearchParams();
    const next = ownPath(given.get("next"));
    const key = given.get("key")?.trim() ?? "";
    if (key === "") return sendLogin(reply, 400, { next, refusal: "Enter a key." });
    const caller = await tryKey(door, ip, key);
    if (typeof caller === "number") return sendTooManyFailures(reply, caller);
    if (!caller || !sessions) return sendLogin(reply, 401, { next, refusal: "This is not a key that is in force." });
    return reply.header("set-cookie", sessions.begin(caller.keyId)).redirect(next, 303);
  });

  app.post("/logout", { config, schema }, async (_, reply) =>
    reply.header("set-cookie", sessions?.end() ?? "").redirect("/login", 303),
  );
}

/** A browser says where a request comes from; what says nothing is no browser that holds somebody's session. */
function isFromElsewhere({ method, headers }: FastifyRequest): boolean {
  const site = headers["sec-fetch-site"];
  return method !== "GET" && site !== undefined && site !== "same-origin" && site !== "none";
}

/** Where to go on: a path of this site, whatever a link to the login page says. */
function ownPath(next: unknown): string {
  const home = "/admin/queues";
  if (typeof next !== "string" || !URL.canParse(next, "http://own.invalid")) return home;
  const { origin, pathname } = new URL(next, "http://own.invalid");
  return origin === "http://own.invalid" && !pathname.startsWith("//") ? pathname : home;
}

function sendSessionsOff(reply: FastifyReply): FastifyReply {
  const detail =
    "Nobody can log in here: SESSION_SECRET is not set. Pages take a key in the header authorization all the same.";
  return sendProblem(reply, { status: 503, title: "No sessions", code: "sessions_off", detail });
}

function sendLogin(
  reply: FastifyReply,
  status: number,
  {
    next,
    refusal = "",
    isLoggedIn = false,
  }: { readonly next: string; readonly refusal?: string; readonly isLoggedIn?: boolean },
): FastifyReply {
  const logout = isLoggedIn ? '<form method="post" action="/logout"><button>Log out</button></form>' : "";
  return reply
    .status(status)
    .type("text/html; charset=utf-8")
    .header(
      "content-security-policy",
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    )
    .send(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Millrace: log in</title><style>
  :root { color-scheme: light dark } body { font: 16px/1.5 system-ui, sans-serif; max-width: 24rem; margin: 15vh auto 0; padding: 1rem }
  h1 { font-size: 1.25rem } label { display: block } input, button { font: inherit; box-sizing: border-box; width: 100%; padding: .5rem .75rem; margin: .25rem 0 1rem }
  [role=alert] { color: light-dark(#b00020, #ff8a80) }</style>
<h1>Millrace</h1>
<form method="post" action="/login">
<label for="key">API key</label>
<input id="key" name="key" type="password" autocomplete="current-password" required autofocus>
<input type="hidden" name="next" value="${escapeHtml(next)}">
<p role="alert">${escapeHtml(refusal)}</p>
<button>Log in</button>
</form>${logout}</html>`);
}
