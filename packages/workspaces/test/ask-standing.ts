/** A worker process that watches a workspace, and says how it stands whenever that has changed. */
import { setTimeout as wait } from "node:timers/promises";
import { redisConnectionOptions } from "@millrace/redis";
import { watchWorkspaces } from "@millrace/workspaces";

const [redisUrl = "", prefix = "", workspaceId = ""] = process.argv.slice(2);
const watch = watchWorkspaces({ connection: redisConnectionOptions("worker", redisUrl), prefix });
await watch.ready;
let last = "";
for (;;) {
  const { standing } = await watch.standingOf(workspaceId);
  if (standing !== last) process.stdout.write(`${standing}\n`);
  last = standing;
  await wait(10);
}
