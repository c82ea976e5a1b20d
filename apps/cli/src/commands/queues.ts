import type { Command } from "@commander-js/extra-typings";
import { drainQueue, pauseQueue, readStats, resumeQueue } from "@millrace/job-admin";
import { parseQueue } from "../arguments.ts";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { examples } from "../examples.ts";
import { exitCodes } from "../exit-codes.ts";
import { operate, showEffect } from "../operate.ts";

/** `queues pause | resume | drain`. */
export function queueCommands(program: Command, cli: Cli): void {
  const group = program.command("queues").description("Whole queues: pause, resume, drain.");
  switchCommand(
    group,
    cli,
    "pause",
    "Lets no worker start a job of this queue. What runs goes on, what is added waits.",
  );
  switchCommand(group, cli, "resume", "Lets the workers go on with a paused queue.");
  group
    .command("drain")
    .description("Removes for good what waits in a queue. What runs or has ended stays.")
    .argument("<queue>", "the queue's name", parseQueue)
    .option("--delayed", "also what waits for its time or for its next attempt")
    .option("--dry-run", "only say how much waits")
    .option("--yes", "do not ask")
    .addHelpText(
      "after",
      examples("millrace queues drain broadcast --dry-run", "millrace queues drain broadcast --delayed --yes"),
    )
    .action(async (queue, { delayed = false, dryRun = false, yes }) => {
      if (dryRun) return showEffect(cli, await countWaiting(queue));
      await confirm(cli, `Remove what waits in ${queue} for good?`, yes);
      await operate(cli, { action: "queue.drain", target: { queue } }, async () => {
        const report = await drainQueue(queue, { delayed }, cli.signal);
        const removed = report.waiting + report.delayed;
        return {
          exitCode: removed === 0 ? exitCodes.failed : exitCodes.done,
          document: { queue, ...report },
          text: `${queue}: removed ${report.waiting} waiting, ${report.delayed} delayed`,
          isCutOff: report.isStopped,
          facts: { waiting: report.waiting, delayed: report.delayed },
        };
      });
    });
}

async function countWaiting(queue: Parameters<typeof drainQueue>[0]) {
  const { total } = await readStats([queue]);
  const { pending, retrying } = total;
  return {
    document: { queue, isDryRun: true, pending, retrying },
    text: `${queue}: ${pending} pending (waiting, delayed, or for their children), ${retrying} between two attempts`,
  };
}

function switchCommand(group: Command, cli: Cli, name: "pause" | "resume", description: string): void {
  group
    .command(name)
    .description(description)
    .argument("<queue>", "the queue's name", parseQueue)
    .addHelpText("after", examples(`millrace queues ${name} email`))
    .action(async (queue) => {
      await operate(cli, { action: `queue.${name}`, target: { queue } }, async () => {
        const outcome = name === "pause" ? await pauseQueue(queue) : await resumeQueue(queue);
        const isDone = outcome === "paused" || outcome === "resumed";
        return {
          exitCode: isDone ? exitCodes.done : exitCodes.failed,
          document: { queue, outcome },
          text: `${queue}: ${outcome}`,
          facts: { result: outcome },
        };
      });
    });
}
