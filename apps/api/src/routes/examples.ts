import { contracts, type QueueContract } from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";
import { readKey } from "../access/authenticate.ts";
import type { Caller } from "../access/caller.ts";
import { ownExample } from "../access/own-workspace.ts";
import { barrierOf, rolesFor } from "../access/route-access.ts";
import { escapeHtml } from "../escape-html.ts";
import { producerAccess } from "./produce.ts";

interface Example {
  readonly name: string;
  readonly command: string;
}

/** `GET /examples`: one command per action that the caller may enqueue, which works when pasted, made from the contracts and its own address and key. */
export function exampleRoutes(app: FastifyInstance): void {
  app.get(
    "/examples",
    { config: { access: "any", workspace: "own", isPage: true }, schema: { hide: true } },
    async ({ access, headers, protocol, host }, reply) => {
      // What the caller sent in its header stands in its own page, and in a command that it runs: nothing but a host may.
      const origin = `${protocol}://${/^[\w.:[\]-]+$/.test(host) ? host : "localhost"}`;
      const key = readKey(headers.authorization ?? "", true);
      return reply
        .type("text/html; charset=utf-8")
        .header("cache-control", "no-store")
        .header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
        .send(renderPage(access, listExamples(access, origin, key), key !== undefined));
    },
  );
}

/** Of the actions whose route lets the caller in. */
function listExamples(caller: Caller, origin: string, key: string | undefined): Example[] {
  return Object.values<QueueContract>(contracts).flatMap((contract) => {
    if (barrierOf(caller, producerAccess(contract)) !== undefined) return [];
    return Object.entries(contract.actions).flatMap(([action, { example }]) => {
      const own = ownExample(caller, contract, action, example);
      if (own === undefined) return [];
      return [{ name: `${contract.name}/${action}`, command: curl(origin, key, contract.name, action, own) }];
    });
  });
}

function curl(origin: string, key: string | undefined, queue: string, action: string, example: unknown): string {
  // Whoever came with a session has shown the key elsewhere; the shell puts it in.
  const authorization =
    key === undefined ? '"authorization: Bearer $MILLRACE_KEY"' : quote(`authorization: Bearer ${key}`);
  const headers = [authorization, quote("content-type: application/json")].map((header) => `-H ${header}`);
  return `curl -X POST ${origin}/jobs/${queue}/${action} ${headers.join(" ")} -d ${quote(JSON.stringify({ data: example }))}`;
}

/** As one word of a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function withArticle(role: string): string {
  return `${/^[aeiou]/.test(role) ? "an" : "a"} ${role}`;
}

function renderPage({ role, workspaceId }: Caller, examples: readonly Example[], holdsKey: boolean): string {
  const aboutKey = holdsKey
    ? "The commands hold your key."
    : "They take your key from the shell: <code>export MILLRACE_KEY=…</code> first.";
  const whose = workspaceId === undefined ? "" : ` for the workspace ${escapeHtml(workspaceId)}`;
  const intro =
    examples.length > 0
      ? `Here is what your key, of ${withArticle(role)}${whose}, may enqueue. Paste a command into a terminal: it answers with the job's id, and <code>GET /jobs/&lt;queue&gt;/&lt;jobId&gt;</code> says what became of it. ${aboutKey}`
      : `Your key is of ${withArticle(role)}${whose}, and enqueues nothing: that takes one of ${rolesFor.producer.map(withArticle).join(" or ")}.`;
  const sections = examples.map(
    ({ name, command }) => `<section><h2>${escapeHtml(name)}</h2><pre>${escapeHtml(command)}</pre></section>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Millrace: one command per action</title><style>
  :root { color-scheme: light dark } body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem }
  h1 { font-size: 1.25rem } h2 { font-size: 1rem; margin: 1.5rem 0 .25rem }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .875rem; padding: .75rem; border: 1px solid color-mix(in srgb, currentColor 15%, transparent); border-radius: .375rem }</style>
<h1>One command per action</h1>
<p>${intro} <a href="/docs">All routes</a> · <a href="/admin/queues">Dashboard</a></p>
${sections.join("\n")}</html>`;
}
