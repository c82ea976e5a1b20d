import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { useDatabase } from "../test/use-database.ts";
import {
  addDigestItem,
  claimDigest,
  type DigestRecipient,
  listDigestRecipients,
  markDigestSent,
} from "./email-digest-items.ts";
import { suppressAddress } from "./email-suppressions.ts";

const { database } = useDatabase();
const later = () => new Date(Date.now() + 60_000);
const textsOf = async (messageId: string, whom: DigestRecipient, until = later()) =>
  (await claimDigest(database(), messageId, { ...whom, until })).items.map(({ text }) => text);

test("a digest keeps its items over every call, another one gets none of them, and what comes later waits for the next", async () => {
  const whom = { recipient: "ada@example.com", workspaceId: randomUUID() };
  for (const text of ["one", "two"]) await addDigestItem(database(), { ...whom, text, recipient: "Ada@Example.com" });
  await addDigestItem(database(), { recipient: whom.recipient, text: "outside of the workspace" });
  expect(await textsOf("<1>", whom)).toEqual(["one", "two"]);
  await addDigestItem(database(), { ...whom, text: "three" });
  expect(await textsOf("<1>", whom)).toEqual(["one", "two"]);
  expect(await textsOf("<2>", whom, new Date(0))).toEqual([]);
  await markDigestSent(database(), "<1>");
  expect(await textsOf("<2>", whom)).toEqual(["three"]);
});

test("two digests that begin at once share no item", async () => {
  const whom = { recipient: "bob@example.com" };
  for (let n = 0; n < 20; n++) await addDigestItem(database(), { ...whom, text: `item ${n}` });
  const digests = await Promise.all(["<a>", "<b>", "<c>"].map((messageId) => textsOf(messageId, whom)));
  expect(digests.flat().length).toBe(20);
  expect(new Set(digests.flat()).size).toBe(20);
});

test("what a digest claimed that never came is in one half a day later", async () => {
  const whom = { recipient: "eve@example.com" };
  await addDigestItem(database(), { ...whom, text: "kept" });
  expect(await textsOf("<dead>", whom)).toEqual(["kept"]);
  expect(await textsOf("<next>", whom)).toEqual([]);
  await sql`update email_digest_items set claimed_at = now() - interval '13 hours' where claimed_by = '<dead>'`.execute(
    database(),
  );
  expect(await textsOf("<next>", whom)).toEqual(["kept"]);
  expect(await textsOf("<dead>", whom)).toEqual([]);
});

test("recipients come once each, in pages, without those who have nothing unsent and those who get no mail", async () => {
  await sql`truncate email_digest_items`.execute(database());
  const workspaceId = randomUUID();
  for (const name of ["carl", "dora", "carl", "gone", "done"]) {
    await addDigestItem(database(), { recipient: `${name}@example.com`, text: "x" });
  }
  await addDigestItem(database(), { recipient: "carl@example.com", workspaceId, text: "x" });
  await suppressAddress(database(), { address: "gone@example.com", reason: "unsubscribed" });
  await textsOf("<done>", { recipient: "done@example.com" });
  await markDigestSent(database(), "<done>");
  const first = await listDigestRecipients(database(), { until: later(), limit: 2 });
  const second = await listDigestRecipients(database(), { until: later(), after: first.at(-1), limit: 2 });
  expect([...first, ...second]).toEqual([
    { recipient: "carl@example.com", workspaceId: undefined },
    { recipient: "carl@example.com", workspaceId },
    { recipient: "dora@example.com", workspaceId: undefined },
  ]);
  expect(await listDigestRecipients(database(), { until: new Date(0), limit: 2 })).toEqual([]);
});
