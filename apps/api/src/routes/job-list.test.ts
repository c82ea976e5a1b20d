import { createApiKey } from "@millrace/access";
import { emailQueue } from "@millrace/worker-config";
import { afterEach, expect, test } from "vitest";
import { bearer, expectProblem, mail, useTestApp } from "../../test/test-app.ts";

const app = useTestApp();

afterEach(() => emailQueue.obliterate({ force: true }));
const ask = (url: string, headers = bearer) => app().inject({ url, headers });
const idsOf = async (url: string, headers = bearer): Promise<string[]> => {
  const response = await ask(url, headers);
  expect(response.statusCode, response.body).toBe(200);
  expect(response.body).not.toContain("MARKER");
  return response.json().items.map(({ jobId }: { jobId: string }) => jobId);
};

async function add(data: object, options: object = {}): Promise<string> {
  const payload = { data: { ...mail, ...data }, options };
  return (await app().inject({ method: "POST", url: "/jobs/email/sendEmail", headers: bearer, payload })).json().jobId;
}

async function addBulk(...data: object[]): Promise<string[]> {
  const payload = { items: data.map((own) => ({ data: { ...mail, ...own } })) };
  const url = "/jobs/email/sendEmail/bulk";
  const { items } = (await app().inject({ method: "POST", url, headers: bearer, payload })).json();
  return items.map(({ jobId }: { jobId: string }) => jobId);
}

test("jobs are found by field and workspace, those of a bulk as well as single ones, and by what they do", async () => {
  const single = await add({ to: "ada@example.com", workspaceId: "ws-1" });
  const [bulk = "", other = ""] = await addBulk(
    { to: "ada@example.com", workspaceId: "ws-1" },
    { workspaceId: "ws-2" },
  );
  const later = await add({ to: "ada@example.com" }, { delayMs: 3_600_000 });
  expect((await idsOf("/jobs?field=to&value=ada%40example.com")).toSorted()).toEqual([single, bulk, later].toSorted());
  expect((await idsOf("/jobs?workspaceId=ws-1&queue=email&action=sendEmail&status=pending")).toSorted()).toEqual(
    [single, bulk].toSorted(),
  );
  expect(await idsOf("/jobs?workspaceId=ws-2")).toEqual([other]);
  expect(await idsOf("/jobs?workspaceId=ws-2&field=to&value=ada%40example.com")).toEqual([]);
  expect((await idsOf("/jobs?queue=email&status=pending")).toSorted()).toEqual([single, bulk, other, later].toSorted());
  for (const nothing of ["status=failed", "action=sendBulk", "to=2020-01-01T00:00:00Z", "queue=webhook"]) {
    expect(await idsOf(`/jobs?${nothing}`)).toEqual([]);
  }
});

test("pages lead through all jobs, each once, and a row has no payload", async () => {
  const added = await addBulk({}, {}, {});
  const found: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: { items: { jobId: string }[]; nextCursor: string | null } = (
      await ask(`/jobs?limit=2${cursor && `&cursor=${cursor}`}`)
    ).json();
    expect(page.items.length).toBeLessThanOrEqual(2);
    found.push(...page.items.map(({ jobId }) => jobId));
    cursor = page.nextCursor;
  }
  expect(found.toSorted()).toEqual(added.toSorted());
  const { nextCursor } = (await ask("/jobs?limit=1&status=pending")).json();
  const otherSearch = await ask(`/jobs?status=failed&cursor=${nextCursor}`);
  expectProblem(otherSearch, 400, "invalid_request");
  expect(otherSearch.json().errors).toMatchObject([{ path: "cursor" }]);
  expect(Object.keys((await ask("/jobs?limit=1")).json().items[0])).not.toContain("data");
});

test("a workspace's key finds its own jobs without naming it, and nobody else's, whatever the index says", async () => {
  const { key } = await createApiKey({ name: "ws-1", role: "viewer", workspaceId: "ws-1" });
  const headers = { authorization: `Bearer ${key}` };
  const [own = "", , , illegible = "", moved = ""] = await addBulk(
    { workspaceId: "ws-1" },
    { workspaceId: "ws-2" },
    {},
    { workspaceId: "ws-1" },
    { workspaceId: "ws-1" },
  );
  const client = await emailQueue.getBackend().client;
  await client.runCommand("hset", [emailQueue.toKey(illegible), "data", "{"]);
  const theirs = JSON.stringify({ type: "sendEmail", data: { ...mail, workspaceId: "ws-2" } });
  await client.runCommand("hset", [emailQueue.toKey(moved), "data", theirs]);
  expect((await idsOf("/jobs?workspaceId=ws-1")).toSorted()).toEqual([own, illegible, moved].toSorted());
  expect(await idsOf("/jobs", headers)).toEqual([own]);
  expect(await idsOf("/jobs?workspaceId=ws-1&status=pending", headers)).toEqual([own]);
  expect(await idsOf("/jobs?field=to&value=bob%40example.com", headers)).toEqual([own]);
  expectProblem(await ask("/jobs?workspaceId=ws-2", headers), 403, "other_workspace");
});

test.each([
  ["field", "field=subject&value=MARKER"],
  ["field", "field=to&value=MARKER&queue=webhook"],
  ["value", "field=to"],
  ["field", "value=MARKER"],
  ["status", "status=done"],
  ["queue", "queue=fax"],
  ["from", "from=yesterday"],
  ["cursor", "cursor=MARKER"],
  ["limit", "limit=201"],
])("a wrong %s is refused by its name (%s)", async (path, query) => {
  const response = await ask(`/jobs?${query}`);
  expectProblem(response, 400, "invalid_request");
  expect(response.json().errors.map((error: { path: string }) => error.path)).toContain(path);
});
