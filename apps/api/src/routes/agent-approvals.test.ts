import { openAgentRun, requestAgentApproval } from "@millrace/database";
import { useDatabase } from "@millrace/database/testing";
import { aiAgentQueue, aiAgentUrgentQueue, contracts, emailQueue, enqueueUnchecked } from "@millrace/worker-config";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bearer, expectProblem, useTestApp } from "../../test/test-app.ts";

const { database } = useDatabase();
const mail = { to: "bob@example.com", subject: "Hello", text: "You asked." };
const app = useTestApp(() => ({ database: database() }));

beforeAll(async () => {
  await openAgentRun(database(), {
    id: "run",
    queue: "aiAgent",
    jobId: "1",
    action: "runAgent",
    workspaceId: undefined,
  });
});
afterAll(async () => {
  for (const queue of [emailQueue, aiAgentQueue, aiAgentUrgentQueue]) await queue.obliterate({ force: true });
});
function ask(method: "GET" | "POST", path: string, payload?: object) {
  return app().inject({ method, url: path, headers: bearer, ...(payload && { payload }) });
}

async function wish(workspaceId?: string, data: object = mail): Promise<string> {
  const id = `apr_${crypto.randomUUID()}`;
  const job = { queue: "email", action: "sendEmail", data: JSON.stringify(data), reason: "He asked." };
  await requestAgentApproval(database(), { id, runId: "run", workspaceId, ...job });
  return id;
}

test("an approved job is added as it was asked for, once, however often it is approved", async () => {
  const id = await wish();
  expect(await emailQueue.getJob(id)).toBeUndefined();
  const body = { decidedBy: "ada" };
  const approve = () => ask("POST", `/agent/approvals/${id}/approve`, body);
  const answers = await Promise.all([approve(), approve(), approve()]);
  for (const answer of answers) {
    expect([answer.statusCode, answer.json()]).toMatchObject([200, { state: "approved", decidedBy: "ada", jobId: id }]);
  }
  expect((await emailQueue.getJob(id))?.data).toMatchObject({ type: "sendEmail", data: mail });
  expect(await emailQueue.getJobCountByTypes("waiting")).toBe(1);
  // Not even when its job has left the queue since.
  await emailQueue.obliterate({ force: true });
  expect((await approve()).json()).toMatchObject({ jobId: id });
  expect(await emailQueue.getJob(id)).toBeUndefined();
  expectProblem(await ask("POST", `/agent/approvals/${id}/reject`), 409, "already_decided");
});

test("a rejected job is never added", async () => {
  const id = await wish();
  expect((await ask("POST", `/agent/approvals/${id}/reject`)).json()).toMatchObject({ state: "rejected", jobId: null });
  expectProblem(await ask("POST", `/agent/approvals/${id}/approve`), 409, "already_decided");
  expect(await emailQueue.getJob(id)).toBeUndefined();
});

test("a job that its contract refuses by now is not approved, its field is named, and it can be rejected", async () => {
  const id = await wish(undefined, { ...mail, to: "MARKER" });
  expectProblem(await ask("POST", `/agent/approvals/${id}/approve`), 400, "invalid_data");
  expect((await ask("GET", `/agent/approvals/${id}`)).json()).toMatchObject({ state: "pending", decidedAt: null });
  expect((await ask("POST", `/agent/approvals/${id}/reject`)).json()).toMatchObject({ state: "rejected" });
});

test("an approval whose id another job holds says so, and adds its own once that job is gone", async () => {
  const id = await wish();
  await enqueueUnchecked(contracts.email, "sendEmail", { ...mail, to: "eve@example.com" }, { jobId: id });
  expectProblem(await ask("POST", `/agent/approvals/${id}/approve`), 409, "job_id_taken");
  expect((await ask("GET", `/agent/approvals/${id}`)).json()).toMatchObject({ jobId: null });
  await (await emailQueue.getJob(id))?.remove();
  expect((await ask("POST", `/agent/approvals/${id}/approve`)).json()).toMatchObject({ jobId: id });
  expect((await emailQueue.getJob(id))?.data).toMatchObject({ data: mail });
});

test("what waits is listed by workspace and state, newest first, page by page", async () => {
  const workspaceId = crypto.randomUUID();
  const [first, second, third] = [await wish(workspaceId), await wish(workspaceId), await wish(workspaceId)];
  await ask("POST", `/agent/approvals/${second}/reject`);
  const list = async (query: string) =>
    (await ask("GET", `/agent/approvals?workspaceId=${workspaceId}&state=pending&limit=1${query}`)).json();
  const newest = await list("");
  expect(newest.items).toMatchObject([{ id: third, data: mail, reason: "He asked.", decidedAt: null }]);
  expect((await list(`&cursor=${newest.nextCursor}`)).items).toMatchObject([{ id: first }]);
  expect((await ask("GET", `/agent/approvals/${second}`)).json()).toMatchObject({ state: "rejected" });
});

test("a viewer's key does not see them: they show what the jobs would be added with", async () => {
  const id = await wish();
  const { key } = (await ask("POST", "/keys", { name: "Looks", role: "viewer" })).json();
  for (const url of ["/agent/approvals", `/agent/approvals/${id}`]) {
    expectProblem(await app().inject({ url, headers: { authorization: `Bearer ${key}` } }), 403, "forbidden");
  }
});

test("a workspace's key sees and decides what its own agents ask for, and no other's", async () => {
  const [workspaceId, other] = [crypto.randomUUID(), crypto.randomUUID()];
  const { key } = (await ask("POST", "/keys", { name: "Ops of one", role: "operator", workspaceId })).json();
  const headers = { authorization: `Bearer ${key}` };
  const [own, foreign] = [await wish(workspaceId), await wish(other)];
  const as = (method: "GET" | "POST", url: string) => app().inject({ method, url, headers });
  expect((await as("GET", "/agent/approvals")).json().items).toMatchObject([{ id: own }]);
  for (const [method, path] of [
    ["GET", ""],
    ["POST", "/approve"],
    ["POST", "/reject"],
  ] as const) {
    expectProblem(await as(method, `/agent/approvals/${foreign}${path}`), 404, "unknown_approval");
  }
  const rejected = await as("POST", `/agent/approvals/${own}/reject`);
  expect(rejected.json()).toMatchObject({ state: "rejected", decidedBy: "Ops of one" });
  expect((await ask("GET", `/agent/approvals/${foreign}`)).json()).toMatchObject({ state: "pending" });
});

test.each([
  ["GET", "/agent/approvals/nope"],
  ["POST", "/agent/approvals/nope/approve"],
  ["POST", "/agent/approvals/nope/reject"],
] as const)("%s %s says that there is none", async (method, path) => {
  expectProblem(await ask(method, path), 404, "unknown_approval");
});

test.each([
  [1, "aiAgentUrgent"],
  [3, "aiAgentUrgent"],
  [4, "aiAgent"],
  [undefined, "aiAgent"],
])("a job of priority %s for aiAgent goes to %s, and the answer says so", async (priority, queue) => {
  const payload = { data: { prompt: "Hello" }, ...(priority && { options: { priority } }) };
  const { jobId, ...answer } = (await ask("POST", "/jobs/aiAgent/runAgent", payload)).json();
  expect(answer).toMatchObject({ queue, status: "created" });
  expect(await (queue === "aiAgent" ? aiAgentQueue : aiAgentUrgentQueue).getJob(jobId)).toBeDefined();
});

test("in bulk each job goes where its own priority says, and is answered at its place", async () => {
  const data = { prompt: "Hello" };
  const items = [
    { data, options: { priority: 3 } },
    { data },
    { data: {}, options: { priority: 1 } },
    { data, options: { priority: 4 } },
  ];
  const answer = (await ask("POST", "/jobs/aiAgent/runAgent/bulk", { items })).json();
  expect(answer).toMatchObject({ queue: "aiAgent", created: 3, refused: 1 });
  const urgent = { status: "created", queue: "aiAgentUrgent", jobId: expect.any(String) };
  const usual = { status: "created", jobId: expect.any(String) };
  expect(answer.items).toEqual([urgent, usual, expect.objectContaining({ status: "refused" }), usual]);
  expect(await aiAgentUrgentQueue.getJob(answer.items[0].jobId)).toBeDefined();
  for (const index of [1, 3]) expect(await aiAgentQueue.getJob(answer.items[index].jobId)).toBeDefined();
});
