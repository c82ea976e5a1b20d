/**
 * Everything on the page is in the page: no script, no font, and nothing loaded from elsewhere. The frame with a mail's HTML falls under
 * it too, so that a mail is seen with its own styles and enclosed pictures and calls nobody.
 */
export const pagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** How often a list loads itself anew. */
export const refreshSeconds = 3;

/** How the pages look. */
export const style = `
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

/** A moment, in UTC. */
export function showTime(iso: string): string {
  const shown = iso.replace("T", " ").replace(/\.\d+Z$/, " UTC");
  return `<time datetime="${escapeHtml(iso)}">${escapeHtml(shown)}</time>`;
}

/** Text as text, whatever signs it holds. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}
