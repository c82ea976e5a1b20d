import { contracts, type QueueContract } from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";
import { readKey } from "../access/authenticate.ts";

interface Example {
  readonly name: string;
  readonly command: string;
}

/** `GET /examples`: one command per action that works when pasted, made from the contracts and the caller's own address and key. */
export function exampleRoutes(app: FastifyInstance): void {
  app.get(
    "/examples",
    { config: { access: "any", workspace: "own", isPage: true }, schema: { hide: true } },
    async ({ headers, protocol, host }, reply) => {
      // What the caller sent in its header stands in its own page, and in a command that it runs: nothing but a host may.
      const origin = `${protocol}://${/^[\w.:[\]-]+$/.test(host) ? host : "localhost"}`;
      const key = readKey(headers.authorization ?? "", true) ?? "";
      return reply
        .type("text/html; charset=utf-8")
        .header("cache-control", "no-store")
        .header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
        .send(renderPage(listExamples(origin, key)));
    },
  );
}

function listExamples(origin: string, key: string): Example[] {
  return Object.values<QueueContract>(contracts).flatMap((contract) =>
    Object.entries(contract.actions).flatMap(([action, { example }]) =>
      example === undefined
        ? []
        : [{ name: `${contract.name}/${action}`, command: curl(origin, key, contract.name, action, example) }],
    ),
  );
}

function curl(origin: string, key: string, queue: string, action: string, example: unknown): string {
  const headers = [`authorization: Bearer ${key}`, "content-type: application/json"].map((text) => `-H ${quote(text)}`);
  return `curl -X POST ${origin}/jobs/${queue}/${action} ${headers.join(" ")} -d ${quote(JSON.stringify({ data: example }))}`;
}

/** As one word of a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function renderPage(examples: readonly Example[]): string {
  const sections = examples.map(
    ({ name, command }) => `<section><h2>${escapeHtml(name)}</h2><pre>${escapeHtml(command)}</pre></section>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Millrace: one command per action</title><style>
  :root { color-scheme: light dark } body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem }
  h1 { font-size: 1.25rem } h2 { font-size: 1rem; margin: 1.5rem 0 .25rem }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .875rem; padding: .75rem; border: 1px solid color-mix(in srgb, currentColor 15%, transparent); border-radius: .375rem }</style>
<h1>One command per action</h1>
<p>Paste one into a terminal. It answers with the job's id; <code>GET /jobs/&lt;queue&gt;/&lt;jobId&gt;</code> says what became of it. The commands hold your key. <a href="/docs">All routes</a> · <a href="/dashboard">Dashboard</a></p>
${sections.join("\n")}</html>`;
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}
