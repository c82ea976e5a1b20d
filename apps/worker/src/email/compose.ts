import { type Database, findEmailTemplate, whenAvailable } from "@millrace/database";
import { cacheTemplates, type MailTemplate } from "@millrace/mail-templates";
import { PermanentError } from "@millrace/worker-host";
import { textOf } from "./html-text.ts";

export interface MailContent {
  readonly subject: string;
  readonly html?: string;
  readonly text: string;
}

/** Names a stored template and whose language it is wanted in. */
export interface TemplateName {
  readonly id: string;
  readonly locale?: string | undefined;
}

/**
 * A stored template, ready to render. Asked of the database for every mail, so that a change holds at once; parsed once per version.
 *
 * @throws PermanentError `template_missing`; TemplateError, which is permanent as well
 * @throws DatabaseUnavailableError
 */
export type FindTemplate = (name: TemplateName) => Promise<MailTemplate>;

export function createFindTemplate(database: Database): FindTemplate {
  const parsed = cacheTemplates();
  return async ({ id, locale }) => {
    const found = await whenAvailable(() => findEmailTemplate(database, id, locale));
    if (found) return parsed(found);
    throw new PermanentError(
      `There is no template ${JSON.stringify(id)}${locale === undefined ? "" : ` for ${locale}`}. Store it with PUT /email/templates/${id}, then replay the job.`,
      { code: "template_missing" },
    );
  };
}

/**
 * The text part is made from the HTML where there is none.
 *
 * @throws PermanentError `html_too_costly`
 */
export function withText({ subject, html, text }: Partial<MailContent> & { subject: string }): MailContent {
  return {
    subject,
    ...(html !== undefined && { html }),
    text: text ?? textOf(html ?? ""),
  };
}
