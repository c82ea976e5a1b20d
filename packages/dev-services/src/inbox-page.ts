import type { InboxMessage } from "./inbox-mailbox.ts";

/**
 * Everything on the page is in the page: no script, no font, and nothing loaded from elsewhere. The frame with a mail's HTML falls under
 * it too, so that a mail is seen with its own styles and enclosed pictures and calls nobody.
 */
export const pagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const refreshSeconds = 3;

const style = `
  :root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 15%, transparent); --soft: color-mix(in srgb, currentColor 60%, transparent) }
  * { box-sizing: border-box }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 48rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere }
  header { display: flex; align-items: center; gap: 1rem; padding-bottom: .75rem; border-bottom: 1px solid var(--line) }
  h1 { font-size: 1.25rem; margin: 0; flex: 1 } h2 { font-size: 1.125rem; margin: 0 0 .5rem }
  a { color: inherit } h1 a { text-decoration: none } form { margin: 0 }
  button { font: inherit; padding: .25rem .75rem; border: 1px solid var(--line); border-radius: .375rem; background: none; cursor: pointer }
  ul { list-style: none; margin: 0; padding: 0 } li { border-bottom: 1px solid var(--line) }
  li > a { display: block; padding: .625rem .25rem; text-decoration: none } li > a:hover { background: color-mix(in srgb, currentColor 5%, transparent) }
  small, footer { color: var(--soft); font-size: .875rem } li small { display: block }
  article { padding: 1rem 0; border-bottom: 1px solid var(--line) }
  dl { display: grid; grid-template-columns: auto 1fr; gap: 0 1rem; margin: 0 0 1rem; font-size: .875rem } dt { color: var(--soft) } dd { margin: 0 }
  iframe { width: 100%; height: 26rem; border: 1px solid var(--line); border-radius: .375rem; background: #fff; color-scheme: light }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .875rem; padding: .75rem; border: 1px solid var(--line); border-radius: .375rem }
  .empty { padding: 2rem 0; text-align: center } .empty pre { text-align: left }`;

/** The inbox as a page: the open mail, if `openId` is one's, above the list of all. Without one it loads itself anew every 3 seconds. */
export function renderInbox(messages: readonly InboxMessage[], smtpUrl: string, openId: string | null): string {
  const open = messages.find(({ id }) => id === openId);
  const list = messages.map((message) => renderRow(message)).join("");
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Inbox (${messages.length})</title>${open ? "" : `<meta http-equiv="refresh" content="${refreshSeconds}">`}<style>${style}</style>
<header><h1><a href="/">Inbox</a> <small>${messages.length}</small></h1><a href="/messages.json">JSON</a>
<form method="post" action="/clear"><button>Clear</button></form></header>
<main>${open ? renderMessage(open) : ""}${list ? `<ul>${list}</ul>` : renderEmpty(smtpUrl)}</main>
<footer><p>Takes every mail sent to <code>${escapeHtml(smtpUrl)}</code> and delivers none. To see a failure, send to
<code>reject-…@example.com</code>, which is refused for good (550), or <code>defer-…@example.com</code>, refused for now (451).</p></footer></html>`;
}

function renderRow(message: InboxMessage): string {
  return `<li><a href="/?open=${escapeHtml(message.id)}"><strong>${renderSubject(message)}</strong>
<small>${escapeHtml(message.from)} → ${escapeHtml(message.to.join(", "))} · ${renderTime(message)}</small></a></li>`;
}

function renderMessage(message: InboxMessage): string {
  // The empty sandbox lets a mail's HTML be seen and nothing of it run.
  const html =
    message.html === null ? "" : `<iframe sandbox="" title="HTML part" srcdoc="${escapeHtml(message.html)}"></iframe>`;
  return `<article><h2>${renderSubject(message)}</h2>
<dl><dt>From<dd>${escapeHtml(message.from)}<dt>To<dd>${escapeHtml(message.to.join(", "))}<dt>Received<dd>${renderTime(message)}</dl>
${html}<pre>${escapeHtml(message.text)}</pre><a href="/messages/${escapeHtml(message.id)}.json">JSON with all headers</a> · <a href="/">Close</a></article>`;
}

function renderSubject({ subject }: InboxMessage): string {
  return escapeHtml(subject) || "(no subject)";
}

function renderTime({ receivedAt }: InboxMessage): string {
  const shown = receivedAt.replace("T", " ").replace(/\.\d+Z$/, " UTC");
  return `<time datetime="${escapeHtml(receivedAt)}">${escapeHtml(shown)}</time>`;
}

function renderEmpty(smtpUrl: string): string {
  const command = `printf 'Subject: Hello\\n\\nIt works.\\n' | curl --crlf ${smtpUrl} --mail-from me@example.com --mail-rcpt ada@example.com -T -`;
  return `<div class="empty"><p>No mail yet. It appears here by itself when a job sends one, or send one by hand:</p><pre>${escapeHtml(command)}</pre></div>`;
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}
