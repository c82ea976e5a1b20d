import { type Kysely, sql } from "kysely";
import type { Tables } from "./tables.ts";

export interface EmailTemplate {
  readonly id: string;
  /** Nothing for the one that serves every locale without its own. */
  readonly locale: string | undefined;
  /** Grows with every change; no two contents ever share one, so what was made of it can be kept by it. */
  readonly version: number;
  readonly subject: string;
  readonly html: string | undefined;
  readonly text: string | undefined;
  readonly updatedAt: Date;
}

export interface NewEmailTemplate {
  readonly id: string;
  /** As `de-AT`. Defaults to the one for every locale without its own. */
  readonly locale?: string | undefined;
  readonly subject: string;
  /** At least one of the two. */
  readonly html?: string | undefined;
  readonly text?: string | undefined;
}

// No column of a primary key is null.
const everyLocale = "";

/** Makes a template, or puts another in its place; then its version is new. */
export async function putEmailTemplate(database: Kysely<Tables>, template: NewEmailTemplate): Promise<EmailTemplate> {
  const { id, locale = everyLocale, subject, html = null, text = null } = template;
  const row = await database
    .insertInto("email_templates")
    .values({ id, locale, subject, html, text })
    .onConflict((conflict) =>
      conflict.columns(["id", "locale"]).doUpdateSet({
        subject,
        html,
        text,
        version: sql<number>`nextval('email_template_versions')`,
        updated_at: sql<Date>`now()`,
      }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
  return toTemplate(row);
}

/**
 * The template for a reader: that of the locale, of its language (`de` for `de-AT`), or the one for every locale.
 *
 * @returns nothing where there is none of the three
 */
export async function findEmailTemplate(
  database: Kysely<Tables>,
  id: string,
  locale?: string,
): Promise<EmailTemplate | undefined> {
  const locales = [...(locale === undefined ? [] : [locale, locale.split("-")[0] ?? locale]), everyLocale];
  const row = await database
    .selectFrom("email_templates")
    .selectAll()
    .where("id", "=", id)
    .where("locale", "in", locales)
    // The longest is the nearest: each is a beginning of the one before.
    .orderBy(sql`length(locale)`, "desc")
    .limit(1)
    .executeTakeFirst();
  return row && toTemplate(row);
}

/** By id and locale, without those up to and including `after`. */
export async function listEmailTemplates(
  database: Kysely<Tables>,
  { after, limit }: { after?: { id: string; locale?: string | undefined } | undefined; limit: number },
): Promise<EmailTemplate[]> {
  const rows = await database
    .selectFrom("email_templates")
    .selectAll()
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(id, locale) > (${after?.id ?? ""}, ${after?.locale ?? everyLocale})`),
    )
    .orderBy("id")
    .orderBy("locale")
    .limit(limit)
    .execute();
  return rows.map(toTemplate);
}

/** @returns whether there was one for exactly this locale */
export async function deleteEmailTemplate(database: Kysely<Tables>, id: string, locale?: string): Promise<boolean> {
  const { numDeletedRows } = await database
    .deleteFrom("email_templates")
    .where("id", "=", id)
    .where("locale", "=", locale ?? everyLocale)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

function toTemplate(row: {
  id: string;
  locale: string;
  version: number;
  subject: string;
  html: string | null;
  text: string | null;
  updated_at: Date;
}): EmailTemplate {
  const { id, version, subject, html, text, updated_at } = row;
  return {
    id,
    locale: row.locale || undefined,
    version,
    subject,
    html: html ?? undefined,
    text: text ?? undefined,
    updatedAt: updated_at,
  };
}
