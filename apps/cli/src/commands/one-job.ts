import type { Command } from "@commander-js/extra-typings";
import { cancelJob, promoteJob, removeJob, replayDeadLetter } from "@millrace/job-admin";
import type { QueueName } from "@millrace/worker-config/contracts";
import { parseQueue } from "../arguments.ts";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { examples } from "../examples.ts";
import { exitCodes } from "../exit-codes.ts";
import { operate } from "../operate.ts";
import { unknownJob } from "../unknown-job.ts";

interface Change {
  readonly name: string;
  readonly description: string;
  /** As the audit log names it. */
  readonly audit: string;
  readonly isFinal?: boolean;
  readonly run: (queue: QueueName, jobId: string) => Promise<{ readonly outcome: string } & object>;
  /** The outcomes that are what was asked for. */
  readonly done: readonly string[];
  /** What the other outcomes mean, and what to do. */
  readonly refusals: Readonly<Record<string, string>>;
}

const inQuarantine =
  "It lies in quarantine, because its record was damaged: `millrace quarantine show` reads it, `millrace quarantine discard` removes it for good.";

const changes: readonly Change[] = [
  {
    name: "cancel",
    description: "Calls a job off, and what it waits for in a flow. One that runs is told, and ends soon.",
    audit: "job.cancel",
    run: cancelJob,
    done: ["cancelled", "cancelling"],
    refusals: {
      finished: "It has ended already; `millrace status` says how.",
      corrupt: "Its record cannot be read as a job. Remove it, or leave it to a worker, which puts it into quarantine.",
    },
  },
  {
    name: "retry",
    description: "Sends a failed or cancelled job back to its queue, with all its attempts.",
    audit: "job.retry",
    run: async (queue, jobId) => ({ outcome: await replayDeadLetter(queue, jobId) }),
    done: ["replayed"],
    refusals: {
      not_failed: "It waits, runs or has succeeded; perhaps somebody else has sent it back.",
      corrupt: "Its record cannot be read as a job. It can be removed.",
      children_open: "A child of its flow failed or has not ended: send the children back first.",
      replayed_already: "It was sent back a moment ago and has failed again.",
    },
  },
  {
    name: "promote",
    description: "Lets a job run now that waits for its time.",
    audit: "job.promote",
    run: async (queue, jobId) => ({ outcome: await promoteJob(queue, jobId) }),
    done: ["promoted"],
    refusals: { not_delayed: "It waits for a worker already, or for its children, runs, or has ended." },
  },
  {
    name: "remove",
    description: "Removes a job for good that waits or has ended, with its payload, result and logs.",
    audit: "job.remove",
    isFinal: true,
    run: async (queue, jobId) => ({ outcome: await removeJob(queue, jobId) }),
    done: ["removed"],
    refusals: {
      active: "It runs. Cancel it first.",
      awaited: "Its parent in a flow waits for it. Cancel the parent, or retry the job, first.",
      children_open: "Children of its flow have not ended. Cancel the job first.",
      scheduled: "A schedule owns it. Remove the schedule.",
      corrupt: "Another kind of key lies under this id, and no list of the queue names it.",
      changed: "It changed while it was to be removed. Ask again.",
    },
  },
];

/** `cancel`, `retry`, `promote` and `remove`: what can be done to one job. */
export function oneJobCommands(program: Command, cli: Cli): void {
  for (const { name, description, audit, isFinal = false, run, done, refusals } of changes) {
    const command = program
      .command(name)
      .description(description)
      .argument("<queue>", "the queue's name", parseQueue)
      .argument("<jobId>", "the job's id");
    if (isFinal) command.option("--yes", "do not ask");
    command
      .addHelpText("after", examples(`millrace ${name} email welcome-ada${isFinal ? " --yes" : ""}`))
      .action(async (queue, jobId, { yes }: { readonly yes?: true }) => {
        if (isFinal) await confirm(cli, `Remove ${queue} ${jobId} for good?`, yes);
        await operate(cli, { action: audit, target: { queue, jobId } }, async () => {
          const result = await run(queue, jobId);
          if (result.outcome === "unknown") throw unknownJob(queue, jobId);
          const advice = result.outcome === "quarantined" ? inQuarantine : refusals[result.outcome];
          return {
            exitCode: done.includes(result.outcome) ? exitCodes.done : exitCodes.failed,
            document: { queue, jobId, ...result },
            text: [`${queue} ${jobId}: ${result.outcome}`, advice].filter(Boolean).join(". "),
            facts: { result: result.outcome },
          };
        });
      });
  }
}
