import { expect, test } from "vitest";
import { useDatabase } from "../test/use-database.ts";
import { deleteEmailTemplate, findEmailTemplate, listEmailTemplates, putEmailTemplate } from "./email-templates.ts";

const { database } = useDatabase();

test("a reader gets the template of the locale, else of the language, else the one for all", async () => {
  const put = (subject: string, locale?: string) =>
    putEmailTemplate(database(), { id: "welcome", locale, subject, text: "x" });
  await put("for all");
  await put("de", "de");
  await put("Austria", "de-AT");
  const subjectFor = async (locale?: string) => (await findEmailTemplate(database(), "welcome", locale))?.subject;
  expect(await Promise.all(["de-AT", "de-CH", "de", "fr", undefined].map(subjectFor))).toEqual([
    "Austria",
    "de",
    "de",
    "for all",
    "for all",
  ]);
  expect(await findEmailTemplate(database(), "unknown", "de")).toBeUndefined();
});

test("no two contents share a version, not even where a template was deleted and made again", async () => {
  const put = (subject: string) => putEmailTemplate(database(), { id: "versions", subject, html: "<p>x</p>" });
  const [first, second] = [await put("one"), await put("two")];
  expect(await deleteEmailTemplate(database(), "versions")).toBe(true);
  expect(await deleteEmailTemplate(database(), "versions")).toBe(false);
  const third = await put("three");
  expect(new Set([first.version, second.version, third.version]).size).toBe(3);
  expect(third).toMatchObject({ subject: "three", html: "<p>x</p>", text: undefined, locale: undefined });
});

test("pages hold every template once", async () => {
  for (const locale of ["de", "fr", undefined]) {
    await putEmailTemplate(database(), { id: "paged", locale, subject: "x", text: "x" });
  }
  const all = await listEmailTemplates(database(), { limit: 100 });
  const pages = [];
  let after: (typeof all)[number] | undefined;
  do {
    const [next] = await listEmailTemplates(database(), { after, limit: 1 });
    after = next;
    if (next) pages.push(next);
  } while (after);
  expect(pages).toEqual(all);
  expect(all.length).toBeGreaterThanOrEqual(3);
});
