import { once } from "node:events";
import type { Command } from "@commander-js/extra-typings";
import { InvalidArgumentError } from "@commander-js/extra-typings";
import { createRedis, readRedisEnv } from "@millrace/redis";
import { readQueueEnv } from "@millrace/worker-config";
import { createWorkspaceDirectory, type WorkspaceDirectory } from "@millrace/workspaces";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { examples } from "../examples.ts";
import { exitCodes } from "../exit-codes.ts";
import { operate } from "../operate.ts";

const deadlineMs = 3_000;

/** `owners block | unblock`: whose jobs are skipped. */
export function ownerCommands(program: Command, cli: Cli): void {
  const group = program.command("owners").description("Owners of workspaces: block, unblock.");
  for (const { name, description, change } of [
    {
      name: "block",
      description: "From now on jobs of every workspace of this owner are skipped.",
      change: (directory: WorkspaceDirectory, id: string) => directory.blockOwner(id),
    },
    {
      name: "unblock",
      description: "Lets jobs of this owner's workspaces run again.",
      change: (directory: WorkspaceDirectory, id: string) => directory.unblockOwner(id),
    },
  ]) {
    group
      .command(name)
      .description(description)
      .argument("<ownerId>", "the owner's id, as the application told it", parseOwner)
      .addHelpText("after", examples(`millrace owners ${name} owner-7`))
      .action(async (ownerId) => {
        await operate(cli, { action: `owner.${name}`, target: { ownerId } }, async () => {
          await withDirectory((directory) => change(directory, ownerId));
          return { document: { ownerId, outcome: `${name}ed` }, text: `${ownerId}: ${name}ed` };
        });
      });
  }
}

function parseOwner(text: string): string {
  if (!/^\P{Cc}{1,256}$/u.test(text))
    throw new InvalidArgumentError("Expected 1 to 256 characters, none of them a control character.");
  return text;
}

/** The directory throws its client's own errors, and waits for as long as that does. */
async function withDirectory(use: (directory: WorkspaceDirectory) => Promise<void>): Promise<void> {
  const prefix = readQueueEnv().QUEUE_PREFIX;
  // What was asked fails with the outage, and that is told below.
  const redis = createRedis("producer", readRedisEnv().REDIS_URL, () => {});
  const deadline = AbortSignal.timeout(deadlineMs);
  deadline.addEventListener("abort", () => redis.disconnect());
  try {
    // A producer's connection has no offline queue: what is asked before it is ready fails.
    await once(redis, "ready", { signal: deadline });
    await use(createWorkspaceDirectory({ redis, prefix }));
  } catch (cause) {
    const message = "Redis did not take the change, or did not answer; asking again is safe.";
    throw new CliError(exitCodes.redisUnavailable, "redis_unavailable", message, { cause });
  } finally {
    redis.disconnect();
  }
}
