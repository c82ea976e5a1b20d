import { type MailTemplate, type MailTemplateSource, parseMailTemplate } from "./mail-template.ts";

/**
 * Parses each version of a template once, and keeps the ones that were used last.
 *
 * @param most how many are kept; defaults to 200
 * @returns a function that throws TemplateError `template_invalid`
 */
export function cacheTemplates(most = 200): (template: MailTemplateSource & { version: number }) => MailTemplate {
  const byVersion = new Map<number, MailTemplate>();
  return (template) => {
    const parsed = byVersion.get(template.version) ?? parseMailTemplate(template);
    // A Map keeps the order in which keys came: what was just used comes last, what was not for longest first.
    byVersion.delete(template.version);
    byVersion.set(template.version, parsed);
    const [oldest] = byVersion.keys();
    if (byVersion.size > most && oldest !== undefined) byVersion.delete(oldest);
    return parsed;
  };
}
