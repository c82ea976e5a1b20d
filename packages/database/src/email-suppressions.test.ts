import { expect, test } from "vitest";
import { useDatabase } from "../test/use-database.ts";
import { findSuppression, listSuppressions, suppressAddress, unsuppressAddress } from "./email-suppressions.ts";

const { database } = useDatabase();

test("an address is suppressed in every case it may be written in, and keeps its first reason", async () => {
  await suppressAddress(database(), { address: "Ada@Example.com", reason: "rejected", code: "5.1.1", jobId: "job-1" });
  await suppressAddress(database(), { address: "ada@example.com", reason: "manual" });
  expect(await findSuppression(database(), "ADA@example.com")).toEqual({
    address: "ada@example.com",
    reason: "rejected",
    code: "5.1.1",
    jobId: "job-1",
    createdAt: expect.any(Date),
  });
  expect(await unsuppressAddress(database(), "ADA@EXAMPLE.COM")).toBe(true);
  expect(await unsuppressAddress(database(), "ada@example.com")).toBe(false);
  expect(await findSuppression(database(), "ada@example.com")).toBeUndefined();
});

test("a list goes on after the last address of the page before", async () => {
  for (const name of ["c", "a", "b"]) {
    await suppressAddress(database(), { address: `${name}@example.com`, reason: "unsubscribed" });
  }
  const page = async (after?: string) =>
    (await listSuppressions(database(), { after, limit: 2 })).map(({ address }) => address);
  expect(await page()).toEqual(["a@example.com", "b@example.com"]);
  expect(await page("b@example.com")).toEqual(["c@example.com"]);
});
