import type { IncomingMessage, ServerResponse } from "node:http";
import { pagePolicy } from "./page-parts.ts";

/** Keeps foreign pages out: those that made a name of theirs point here, and those that send a form here. */
export function refusalOf({ headers: { host = "", origin } }: IncomingMessage): string | undefined {
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host)) return "expected the host 127.0.0.1 or localhost";
  if (origin !== undefined && origin !== `http://${host}`) return `expected a request from http://${host}`;
  return undefined;
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  const headers = { "content-type": "application/json; charset=utf-8", "x-content-type-options": "nosniff" };
  response.writeHead(status, headers).end(JSON.stringify(body, null, 2));
}

export function page(response: ServerResponse, html: string): void {
  const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": pagePolicy };
  response.writeHead(200, { ...headers, "x-content-type-options": "nosniff" }).end(html);
}
