import { once } from "node:events";
import { createRedis, ownKey, readRedisEnv } from "@millrace/redis";
import { addSchedule } from "@millrace/schedules";
import { toCadence } from "@millrace/schedules/cadence";
import { closeQueues, readQueueEnv } from "@millrace/worker-config";
import { afterAll, expect, test } from "vitest";
import { putIntoQuarantine } from "../../../../packages/job-admin/test/quarantined-jobs.ts";
import { run } from "../../test/run.ts";

const mail = { to: "ada@example.com", subject: "SECRET", text: "Hi" };

afterAll(closeQueues);

test("a workspace's schedule is listed, run and removed, and its payload is not shown", async () => {
  await addSchedule(
    {
      id: "monthly",
      workspaceId: "ws-1",
      cadence: toCadence({ cron: "0 6 1 * *", timeZone: "Europe/Berlin" }),
      ...{ queue: "email", action: "sendEmail", data: mail, overlap: "skip", missed: "skip" },
    },
    10,
  );
  const listed = await run(["schedules", "list"]);
  expect(listed.stdout).toMatch(/monthly +ws-1 +0 6 1 \* \* Europe\/Berlin +email +sendEmail/);
  expect((await run(["schedules", "list", "--json"])).stdout).not.toContain("SECRET");
  expect(await run(["schedules", "run", "monthly", "--json"])).toMatchObject({
    exitCode: 0,
    documents: [{ outcome: "added", queue: "email" }],
  });
  expect(listed.stdout).toMatch(/\d{2}:00:00\.000Z/);
  expect(await run(["schedules", "run", "monthly"])).toMatchObject({ exitCode: 1 });
  await run(["schedules", "pause", "monthly"]);
  expect((await run(["schedules", "list"])).stdout).toMatch(/monthly .*sendEmail +paused/);
  await run(["schedules", "resume", "monthly"]);
  for (const [command, exitCode] of [
    ["pause", 0],
    ["pause", 1],
    ["resume", 0],
    ["resume", 1],
  ] as const) {
    expect(await run(["schedules", command, "monthly"])).toMatchObject({ exitCode });
  }
  expect(await run(["schedules", "remove", "monthly", "--yes"])).toMatchObject({ exitCode: 0 });
  for (const argv of [
    ["run", "monthly"],
    ["remove", "monthly", "--yes"],
  ]) {
    expect(await run(["schedules", ...argv, "--json"])).toMatchObject({
      exitCode: 3,
      error: { code: "unknown_schedule" },
    });
  }
});

test("schedules and keys page by the API's own cursors, and any other text is refused", async () => {
  const base = { cadence: toCadence({ everyMs: 60_000 }), queue: "email", action: "sendEmail", data: mail } as const;
  const add = (id: string) => addSchedule({ ...base, id, workspaceId: "ws-2", overlap: "skip", missed: "skip" }, 10);
  for (const id of ["one", "two"]) await add(id);
  for (const name of ["one", "two"]) await run(["keys", "create", name, "--role", "viewer"]);
  const cursors = [];
  for (const [list, noun, extra] of [
    ["schedules", "cursor", ["--workspace", "ws-2"]],
    ["keys", "nextCursor", []],
  ] as const) {
    const ask = (...argv: string[]) => run([list, "list", "--limit", "1", ...extra, ...argv]);
    const [page] = (await ask("--json")).documents;
    const cursor = String(page?.[noun]);
    const [first] = Object.values(page ?? {}).find(Array.isArray) ?? [];
    const [second] =
      Object.values((await ask("--cursor", cursor, "--json")).documents[0] ?? {}).find(Array.isArray) ?? [];
    expect(second.id > first.id).toBe(true);
    expect((await ask()).stdout).toMatch(new RegExp(`more with --cursor ${cursor}$`, "m"));
    cursors.push({ ask, cursor, wrong: [first.id, "[", ""] });
  }
  for (const { ask, cursor, wrong } of cursors) {
    const foreign = cursors.map((other) => other.cursor).filter((other) => other !== cursor);
    for (const text of [...wrong, ...foreign]) {
      const refused = await ask("--cursor", text);
      expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
      expect(refused.stderr).toBe("millrace: cursor: expected a cursor that an earlier page returned.\n");
    }
  }
});

test("a key is printed once, when it is made, and revoked by its id", async () => {
  const made = await run(["keys", "create", "shop", "--role", "producer", "--expires-in", "90d", "--json"]);
  expect(made).toMatchObject({ exitCode: 0, documents: [{ name: "shop", role: "producer" }] });
  const { id, key } = made.documents[0] ?? {};
  expect(key).toMatch(/^mr_/);
  const listed = await run(["keys", "list"]);
  expect(listed.stdout).toMatch(new RegExp(`^${id} +producer .* shop$`, "m"));
  expect(listed.stdout).not.toContain(String(key).slice(-43));
  expect(await run(["keys", "revoke", String(id), "--yes", "--json"])).toMatchObject({ exitCode: 0 });
  expect(await run(["keys", "revoke", String(id), "--yes", "--json"])).toMatchObject({ exitCode: 3 });
  expect(await run(["keys", "create", "shop", "--role", "admin", "--workspace", "ws-1"])).toMatchObject({
    exitCode: 2,
  });
});

test("an owner is blocked and unblocked for every worker", async () => {
  const redis = createRedis("producer", readRedisEnv().REDIS_URL, () => {});
  try {
    await once(redis, "ready");
    const isBlocked = () => redis.sismember(ownKey(readQueueEnv().QUEUE_PREFIX, "workspaces", "blocked"), "owner-7");
    expect(await run(["owners", "block", "owner-7", "--json"])).toMatchObject({
      exitCode: 0,
      documents: [{ ownerId: "owner-7", outcome: "blocked" }],
    });
    expect(await isBlocked()).toBe(1);
    expect(await run(["owners", "unblock", "owner-7"])).toMatchObject({ exitCode: 0, stdout: "owner-7: unblocked\n" });
    expect(await isBlocked()).toBe(0);
  } finally {
    redis.disconnect();
  }
});

test("what lies in quarantine is listed without its record, shown with it, and discarded by hand", async () => {
  await putIntoQuarantine("email", { jobId: "damaged", fields: { data: "SECRET" } });
  const listed = await run(["quarantine", "list"]);
  expect(listed.stdout).toMatch(/email +damaged .*corrupt/);
  expect(listed.stdout).not.toContain("SECRET");
  const show = ["quarantine", "show", "email", "damaged"];
  expect((await run(show)).stdout).toMatch(/^ {2}data +SECRET$/m);
  expect((await run([...show, "--json"])).documents).toMatchObject([{ fields: { data: "SECRET" }, cutFields: {} }]);
  const discard = ["quarantine", "discard", "email", "damaged", "--yes"];
  expect(await run(discard)).toMatchObject({ exitCode: 0 });
  expect(await run(discard)).toMatchObject({ exitCode: 3 });
  expect(await run([...show, "--json"])).toMatchObject({ exitCode: 3, error: { code: "not_quarantined" } });
  expect((await run(["quarantine", "list"])).stdout).toBe("the quarantine is empty\n");
});

test("without a worker the list of workers says so", async () => {
  expect(await run(["workers"])).toMatchObject({ exitCode: 0, stdout: "no worker is alive\n" });
  expect((await run(["workers", "--json"])).documents).toEqual([{ workers: [], isCut: false }]);
});
