import { spawn } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { cleanUp, freshPrefix, onCleanUp, openDirectory, openWatch } from "../test/directories.ts";
import { withBlockedOwnerGuard } from "./index.ts";

cleanUp();

const integration = (id: string) => ({ kind: "integration", id });
/** What every process must go by after a change. */
const effective = { timeout: 2_000, interval: 10 };

/** A directory, and two watches of it as two processes have them. */
async function open() {
  const prefix = freshPrefix();
  const directory = openDirectory(prefix);
  const watch = openWatch(prefix);
  const other = openWatch(prefix);
  await Promise.all([watch.ready, other.ready]);
  const standings = async (workspaceId: string) =>
    (await Promise.all([watch.standingOf(workspaceId), other.standingOf(workspaceId)])).map(({ standing }) => standing);
  return { prefix, directory, watch, standings };
}

test("a workspace that nobody told about is active, and belongs to nothing", async () => {
  const { watch, standings } = await open();
  expect(await standings("unheard-of")).toEqual(["active", "active"]);
  expect(await watch.workspaceOf(integration("unheard-of"))).toBeUndefined();
});

test("an owner who is blocked is blocked in every workspace and every process within two seconds, and so is the return", async () => {
  const { directory, standings, watch } = await open();
  await directory.assignWorkspace("w1", "ada");
  await directory.assignWorkspace("w2", "ada");
  await directory.assignWorkspace("w3", "bob");
  for (const workspaceId of ["w1", "w2", "w3"]) expect(await standings(workspaceId)).toEqual(["active", "active"]);

  await directory.blockOwner("ada");
  await expect.poll(() => standings("w1"), effective).toEqual(["blocked", "blocked"]);
  expect(await standings("w2")).toEqual(["blocked", "blocked"]);
  expect(await standings("w3")).toEqual(["active", "active"]);
  expect(await watch.standingOf("w1")).toEqual({ standing: "blocked", ownerId: "ada" });

  await directory.unblockOwner("ada");
  await expect.poll(() => standings("w1"), effective).toEqual(["active", "active"]);
});

test("a workspace goes with its owner: to a blocked one and away again, also one that had none", async () => {
  const { directory, standings } = await open();
  await directory.blockOwner("mallory");
  await directory.assignWorkspace("owned", "ada");
  for (const workspaceId of ["owned", "ownerless"]) {
    expect(await standings(workspaceId)).toEqual(["active", "active"]);
    await directory.assignWorkspace(workspaceId, "mallory");
    await expect.poll(() => standings(workspaceId), effective).toEqual(["blocked", "blocked"]);
    await directory.assignWorkspace(workspaceId, "bob");
    await expect.poll(() => standings(workspaceId), effective).toEqual(["active", "active"]);
  }
});

test("a workspace scheduled for deletion is gone, whoever owns it, until that is called off or it is forgotten", async () => {
  const { directory, standings } = await open();
  await directory.assignWorkspace("w", "mallory");
  await directory.blockOwner("mallory");
  expect(await standings("w")).toEqual(["blocked", "blocked"]);
  await directory.scheduleWorkspaceDeletion("w");
  await expect.poll(() => standings("w"), effective).toEqual(["gone", "gone"]);
  await directory.cancelWorkspaceDeletion("w");
  await expect.poll(() => standings("w"), effective).toEqual(["blocked", "blocked"]);
  await directory.scheduleWorkspaceDeletion("w");
  await expect.poll(() => standings("w"), effective).toEqual(["gone", "gone"]);
  await directory.forgetWorkspace("w");
  await expect.poll(() => standings("w"), effective).toEqual(["active", "active"]);
});

test("a reference leads where it was linked last, and nowhere once it or its workspace is no more", async () => {
  const { directory, watch } = await open();
  const leadsTo = (id: string) => expect.poll(() => watch.workspaceOf(integration(id)), effective);
  expect(await watch.workspaceOf(integration("i"))).toBeUndefined();
  await directory.linkWorkspace(integration("i"), "w1");
  await leadsTo("i").toBe("w1");
  expect(await watch.workspaceOf({ kind: "import", id: "i" })).toBeUndefined();
  await directory.linkWorkspace(integration("i"), "w2");
  await leadsTo("i").toBe("w2");
  await directory.unlinkWorkspace(integration("i"));
  await leadsTo("i").toBeUndefined();
  await directory.linkWorkspace(integration("j"), "w2");
  await leadsTo("j").toBe("w2");
  await directory.scheduleWorkspaceDeletion("w2");
  await directory.forgetWorkspace("w2");
  await leadsTo("j").toBeUndefined();
});

test("a process of its own goes by what another one tells, within two seconds", async () => {
  const { prefix, directory } = await open();
  await directory.assignWorkspace("w", "ada");
  const program = fileURLToPath(new URL("../test/ask-standing.ts", import.meta.url));
  const { REDIS_URL = "" } = process.env;
  const child = spawn(process.execPath, ["--conditions=millrace-source", program, REDIS_URL, prefix, "w"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onCleanUp(() => child.kill());
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const said = async () => (await lines.next()).value;
  expect(await said()).toBe("active");
  for (const [change, standing] of [
    [() => directory.blockOwner("ada"), "blocked"],
    [() => directory.unblockOwner("ada"), "active"],
    [() => directory.scheduleWorkspaceDeletion("w"), "gone"],
  ] as const) {
    await change();
    const toldAt = performance.now();
    expect(await said()).toBe(standing);
    expect(performance.now() - toldAt).toBeLessThan(2_000);
  }
});

test("a thousand jobs of a few workspaces cost no command, their references and the unknown ones included", async () => {
  const { directory, watch } = await open();
  await directory.assignWorkspace("known", "ada");
  await directory.linkWorkspace(integration("known"), "known");
  const ids = ["known", "unknown"];
  const askAll = async () => {
    for (const id of ids) {
      expect(await withBlockedOwnerGuard(watch, id, () => "ran")).toEqual({ skipped: false, value: "ran" });
      expect(await watch.workspaceOf(integration(id))).toBe(id === "known" ? id : undefined);
    }
  };
  const lookUps: string[] = [];
  // The watch's questions for changes name no workspace; a look-up does, in its last argument.
  const count = (message: unknown) => {
    const { args } = message as { args: string[] };
    if (/known$/.test(args.at(-1) ?? "")) lookUps.push(args.at(-1) ?? "");
  };
  subscribe("tracing:ioredis:command:start", count);
  onCleanUp(() => unsubscribe("tracing:ioredis:command:start", count));
  await askAll();
  expect(lookUps).toEqual(["known", "integration:known", "unknown", "integration:unknown"]);
  for (let round = 0; round < 250; round += 1) await askAll();
  expect(lookUps).toHaveLength(4);
});
