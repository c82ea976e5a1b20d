import { createApiKey } from "@millrace/access";
import { useDatabase } from "@millrace/database/testing";
import { emailContract, emailQueue, enqueue } from "@millrace/worker-config";
import { beforeAll, expect, test } from "vitest";
import { expectProblem, mail, useTestApp } from "../../test/test-app.ts";
import { createEndpoint } from "../../test/webhook-records.ts";

const { database } = useDatabase();
const app = useTestApp(() => ({ database: database() }));
let headers: { authorization: string };
beforeAll(async () => {
  const { key } = await createApiKey({ name: "ws-1", role: "operator", workspaceId: "ws-1" });
  headers = { authorization: `Bearer ${key}` };
});
const send = (data: object, options = {}) =>
  app().inject({
    method: "POST",
    url: "/jobs/email/sendEmail",
    headers,
    payload: { data: { ...mail, ...data }, options },
  });

test("a workspace's key enqueues for its workspace, and adds nothing for another one or for none", async () => {
  expect((await send({ workspaceId: "ws-1" })).statusCode).toBe(202);
  const before = await emailQueue.getJobCounts();
  for (const data of [{ workspaceId: "ws-2" }, {}]) expectProblem(await send(data), 403, "other_workspace");
  expect(await emailQueue.getJobCounts()).toEqual(before);
});

test("a workspace's key gives an attempt as long as its action says, and no longer", async () => {
  expect((await send({ workspaceId: "ws-1" }, { timeoutMs: 1_000 })).statusCode).toBe(202);
  const day = { timeoutMs: 24 * 60 * 60_000 };
  expectProblem(await send({ workspaceId: "ws-1" }, day), 400, "invalid_options");
  const items = [{ data: { ...mail, workspaceId: "ws-1" }, options: day }];
  const bulk = await app().inject({ method: "POST", url: "/jobs/email/sendEmail/bulk", headers, payload: { items } });
  expect(bulk.json().items).toMatchObject([{ status: "refused", error: { errors: [{ path: "options.timeoutMs" }] } }]);
});

test("another workspace's job answers as one that never was", async () => {
  const theirs = await enqueue(emailContract, "sendEmail", { ...mail, workspaceId: "ws-2" }, { delayMs: 3_600_000 });
  const nobodys = await enqueue(emailContract, "sendEmail", mail, { delayMs: 3_600_000 });
  const never = await app().inject({ url: "/jobs/email/never-was", headers });
  for (const { jobId } of [theirs, nobodys]) {
    const read = await app().inject({ url: `/jobs/email/${jobId}`, headers });
    expectProblem(read, 404, "unknown_job");
    expect(read.json()).toEqual(never.json());
    const cancelled = await app().inject({ method: "POST", url: `/jobs/email/${jobId}/cancel`, headers });
    expectProblem(cancelled, 404, "unknown_job");
    expect(await (await emailQueue.getJob(jobId))?.getState()).toBe("delayed");
  }
});

test("lists hold a workspace's own, and what it makes is its own, without a word of it in the request", async () => {
  const [own] = [await createEndpoint(database(), "ws-1"), await createEndpoint(database(), "ws-2")];
  const list = await app().inject({ url: "/webhooks/endpoints", headers });
  expect(list.json().items.map(({ id }: { id: string }) => id)).toEqual([own]);
  const payload = { url: "https://example.com/hooks", events: ["*"] };
  const made = await app().inject({ method: "POST", url: "/webhooks/endpoints", headers, payload });
  expect(made.json()).toMatchObject({ workspaceId: "ws-1" });
});

test("a schedule of its own may not add jobs of another workspace, or of none", async () => {
  for (const data of [{ ...mail, workspaceId: "ws-2" }, mail]) {
    const payload = {
      cron: "0 9 * * *",
      timeZone: "UTC",
      workspaceId: "ws-1",
      queue: "email",
      action: "sendEmail",
      data,
    };
    const response = await app().inject({ method: "POST", url: "/schedules", headers, payload });
    expect([400, 403]).toContain(response.statusCode);
  }
  expect((await app().inject({ url: "/schedules", headers })).json().items).toEqual([]);
});

test("job ids and dedupe keys are a workspace's own: nobody holds another one's job up, or learns that it is there", async () => {
  await enqueue(emailContract, "sendEmail", { ...mail, workspaceId: "ws-2" }, { jobId: "order-1001" });
  const first = await send({ workspaceId: "ws-1" }, { jobId: "order-1001" });
  const again = await send({ workspaceId: "ws-1" }, { jobId: "order-1001" });
  expect([first.statusCode, again.statusCode]).toEqual([202, 200]);
  expect(again.json().jobId).toBe(first.json().jobId);
  expect((await app().inject({ url: `/jobs/email/${first.json().jobId}`, headers })).statusCode).toBe(200);
  const dedupe = { key: "digest", mode: "drop" };
  await enqueue(emailContract, "sendEmail", mail, { delayMs: 3_600_000, dedupe: { key: "digest", mode: "drop" } });
  const own = await send({ workspaceId: "ws-1" }, { delayMs: 3_600_000, dedupe });
  expect([own.statusCode, (await send({ workspaceId: "ws-1" }, { dedupe })).statusCode]).toEqual([202, 200]);
});
