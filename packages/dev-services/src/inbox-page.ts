import type { InboxMessage } from "./inbox-mailbox.ts";
import { escapeHtml, refreshSeconds, showTime, style } from "./page-parts.ts";

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
<small>${escapeHtml(message.from)} → ${escapeHtml(message.to.join(", "))} · ${showTime(message.receivedAt)}</small></a></li>`;
}

function renderMessage(message: InboxMessage): string {
  // The empty sandbox lets a mail's HTML be seen and nothing of it run.
  const html =
    message.html === null ? "" : `<iframe sandbox="" title="HTML part" srcdoc="${escapeHtml(message.html)}"></iframe>`;
  return `<article><h2>${renderSubject(message)}</h2>
<dl><dt>From<dd>${escapeHtml(message.from)}<dt>To<dd>${escapeHtml(message.to.join(", "))}<dt>Received<dd>${showTime(message.receivedAt)}${renderAttachments(message)}</dl>
${html}<pre>${escapeHtml(message.text)}</pre><a href="/messages/${escapeHtml(message.id)}.json">JSON with all headers</a> · <a href="/">Close</a></article>`;
}

function renderAttachments({ attachments }: InboxMessage): string {
  if (attachments.length === 0) return "";
  const list = attachments.map(({ name, contentType, bytes }) => `${name} (${contentType}, ${bytes} bytes)`).join(", ");
  return `<dt>Attached<dd>${escapeHtml(list)}`;
}

function renderSubject({ subject }: InboxMessage): string {
  return escapeHtml(subject) || "(no subject)";
}

function renderEmpty(smtpUrl: string): string {
  const command = `printf 'Subject: Hello\\n\\nIt works.\\n' | curl --crlf ${smtpUrl} --mail-from me@example.com --mail-rcpt ada@example.com -T -`;
  return `<div class="empty"><p>No mail yet. It appears here by itself when a job sends one, or send one by hand:</p><pre>${escapeHtml(command)}</pre></div>`;
}
