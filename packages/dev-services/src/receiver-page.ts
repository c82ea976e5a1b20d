import { escapeHtml, refreshSeconds, showTime, style } from "./page-parts.ts";
import type { ReceivedWebhook } from "./received-webhook.ts";

/** What came in, as a page that loads itself anew every 3 seconds. */
export function renderReceiver(webhooks: readonly ReceivedWebhook[], url: string): string {
  const list = webhooks.map(renderWebhook).join("");
  const empty = `<div class="empty"><p>No webhook yet. The endpoint that <code>npm run dev</code> makes leads here.</p></div>`;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Webhooks (${webhooks.length})</title><meta http-equiv="refresh" content="${refreshSeconds}"><style>${style}</style>
<header><h1><a href="/">Webhooks</a> <small>${webhooks.length}</small></h1><a href="/webhooks.json">JSON</a></header>
<main>${list || empty}</main>
<footer><p>Takes every webhook posted to <code>${escapeHtml(url)}</code> and answers 204. To see another answer, register an endpoint at
<code>${escapeHtml(url)}/500</code>, <code>…/429</code> or <code>…/410</code>: it signs with a secret of its own, which this page does not know.</p></footer></html>`;
}

function renderWebhook({ path, signature, status, headers, body, receivedAt }: ReceivedWebhook): string {
  return `<article><h2>${escapeHtml(headers["x-webhook-event"] ?? "(no event)")} <small>${escapeHtml(signature)}</small></h2>
<dl><dt>Received<dd>${showTime(receivedAt)}<dt>Path<dd>${escapeHtml(path)}<dt>Event id<dd>${escapeHtml(headers["webhook-id"] ?? "")}
<dt>Delivery<dd>${escapeHtml(headers["x-webhook-delivery"] ?? "")}<dt>Answered<dd>${status}</dl><pre>${escapeHtml(body)}</pre></article>`;
}
