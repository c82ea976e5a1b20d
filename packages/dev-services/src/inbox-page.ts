import type { InboxMessage } from "./inbox-mailbox.ts";

/** Everything on the page is in the page: no script, no font and no picture from elsewhere, and none from a mail. */
export const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'";

const style = `
  :root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent) }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 0 auto; padding: 1rem }
  header { display: flex; align-items: baseline; gap: 1rem; border-bottom: 1px solid var(--line) }
  h1 { font-size: 1.25rem; flex: 1 } button { font: inherit }
  details { border-bottom: 1px solid var(--line); padding: .6rem 0 } summary { cursor: pointer }
  summary small { display: block; opacity: .7 } pre { white-space: pre-wrap; overflow-wrap: anywhere }
  iframe { width: 100%; height: 20rem; border: 1px solid var(--line); background: #fff }
  .empty { padding: 3rem 0; text-align: center; opacity: .8 } code { overflow-wrap: anywhere }`;

/** The inbox as a page. It loads itself anew every five seconds, unless a mail is open. */
export function renderInbox(messages: readonly InboxMessage[], smtpUrl: string, openId: string | null): string {
  const list = messages.map((message) => renderMessage(message, message.id === openId)).join("");
  const refresh = openId === null ? '<meta http-equiv="refresh" content="5">' : "";
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Inbox (${messages.length})</title>${refresh}<style>${style}</style>
<header><h1><a href="/">Inbox</a> · ${messages.length}</h1><a href="/messages.json">JSON</a>
<form method="post" action="/clear"><button>Clear</button></form></header>
<main>${list || renderEmpty(smtpUrl)}</main>
<footer><p><small>Takes every mail sent to <code>${escapeHtml(smtpUrl)}</code> and delivers none. A recipient
<code>reject-…@</code> is refused with 550, <code>defer-…@</code> with 451.</small></p></footer></html>`;
}

function renderMessage(message: InboxMessage, isOpen: boolean): string {
  const heading = `<strong>${escapeHtml(message.subject) || "(no subject)"}</strong>
<small>${escapeHtml(message.from)} → ${escapeHtml(message.to.join(", "))} · <time>${message.receivedAt}</time></small>`;
  if (!isOpen) return `<details><summary><a href="/?open=${message.id}">${heading}</a></summary></details>`;
  // The empty sandbox lets a mail's HTML be seen and nothing of it run.
  const html =
    message.html === null ? "" : `<iframe sandbox="" title="HTML part" srcdoc="${escapeHtml(message.html)}"></iframe>`;
  return `<details open><summary>${heading}</summary>${html}<pre>${escapeHtml(message.text)}</pre></details>`;
}

function renderEmpty(smtpUrl: string): string {
  return `<p class="empty">No mail yet. Enqueue one with the <code>curl</code> that the start printed,<br>or point any mailer at <code>${escapeHtml(smtpUrl)}</code>.</p>`;
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}
