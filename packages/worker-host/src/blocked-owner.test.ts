import { getRedisConnection } from "@millrace/worker-config";
import { defineQueue, parseJobSkip } from "@millrace/worker-config/contracts";
import { createWorkspaceDirectory, watchWorkspaces } from "@millrace/workspaces";
import { Redis } from "ioredis";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";

const contract = defineQueue("default", {
  run: {
    data: z.object({ integrationId: z.string() }),
    result: z.string(),
    workspaceId: ({ integrationId }) => ({ kind: "integration", id: integrationId }),
  },
});
const { prefix, work, finished } = useQueue(contract);
const redis = new Redis({ ...getRedisConnection("worker") });
const workspaces = watchWorkspaces({ connection: getRedisConnection("worker"), prefix });

afterAll(() => {
  workspaces.close();
  redis.disconnect();
});

test("what an application tells the directory decides, within two seconds, whether a worker runs a job", async () => {
  const directory = createWorkspaceDirectory({ redis, prefix });
  await directory.assignWorkspace("workspace", "owner");
  await directory.linkWorkspace({ kind: "integration", id: "integration" }, "workspace");
  await work({ run: async (_, { workspaceId }) => workspaceId ?? "none" }, { workspaces });
  const outcome = async () => {
    const { returnvalue } = await finished("run", { integrationId: "integration" });
    return parseJobSkip(returnvalue)?.code ?? returnvalue;
  };
  expect(await outcome()).toBe("workspace");
  await directory.blockOwner("owner");
  await expect.poll(outcome, { timeout: 2_000 }).toBe("owner_blocked");
  await directory.unblockOwner("owner");
  await expect.poll(outcome, { timeout: 2_000 }).toBe("workspace");
  await directory.scheduleWorkspaceDeletion("workspace");
  await expect.poll(outcome, { timeout: 2_000 }).toBe("workspace_gone");
});
