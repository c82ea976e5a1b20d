import type { Command } from "@commander-js/extra-typings";
import { discardQuarantined, listQuarantine, type QuarantinedRecord, readQuarantined } from "@millrace/job-admin";
import { parsePageSize, parseQueue } from "../arguments.ts";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { confirm } from "../confirm.ts";
import { examples } from "../examples.ts";
import { exitCodes } from "../exit-codes.ts";
import { operate } from "../operate.ts";
import { renderPage } from "../page.ts";
import { renderFields } from "../table.ts";

/** `quarantine list | show | discard`: jobs whose records no worker can read. */
export function quarantineCommands(program: Command, cli: Cli): void {
  const group = program
    .command("quarantine")
    .description("Jobs that were taken out of their queue because their records are damaged.");
  group
    .command("list")
    .description("Lists what lies there, in no order.")
    .option("--queue <name>", "only this queue's", parseQueue)
    .option("--limit <number>", "about so many, 200 or fewer", parsePageSize, 50)
    .option("--cursor <cursor>", "where an earlier page ended")
    .addHelpText("after", examples("millrace quarantine list", "millrace quarantine list --queue email --json"))
    .action(async ({ queue, limit, cursor }) => {
      const page = await listQuarantine(queue, { limit, cursor });
      cli.show(page, () => {
        const head = ["since", "queue", "job", "bytes", "reason"];
        const rows = page.jobs.map((job) => [job.quarantinedAt ?? "?", job.queue, job.jobId, job.bytes, job.reason]);
        return renderPage(cli, { head, rows, cursor: page.cursor, empty: "the quarantine is empty" });
      });
    });
  group
    .command("show")
    .description(
      "Shows a record in quarantine, with its payload. With --json it is exact, and bytes that are no text are base64.",
    )
    .argument("<queue>", "the queue's name", parseQueue)
    .argument("<jobId>", "the job's id")
    .addHelpText("after", examples("millrace quarantine show email welcome-ada --json"))
    .action(async (queue, jobId) => {
      await operate(cli, { action: "quarantine.read", target: { queue, jobId } }, async () => {
        const record = await readQuarantined(queue, jobId);
        if (!record) throw notQuarantined(queue, jobId);
        return { document: record, text: render(record) };
      });
    });
  group
    .command("discard")
    .description("Removes a job from quarantine for good.")
    .argument("<queue>", "the queue's name", parseQueue)
    .argument("<jobId>", "the job's id")
    .option("--yes", "do not ask")
    .addHelpText("after", examples("millrace quarantine discard email welcome-ada --yes"))
    .action(async (queue, jobId, { yes }) => {
      await confirm(cli, `Remove ${queue} ${jobId} from quarantine for good?`, yes);
      await operate(cli, { action: "quarantine.discard", target: { queue, jobId } }, async () => {
        if (!(await discardQuarantined(queue, jobId))) throw notQuarantined(queue, jobId);
        return { document: { queue, jobId, outcome: "discarded" }, text: `${queue} ${jobId}: discarded` };
      });
    });
}

function notQuarantined(queue: string, jobId: string): CliError {
  return new CliError(
    exitCodes.notFound,
    "not_quarantined",
    `No job ${jobId} lies in quarantine of queue ${queue}. It never did, was discarded, or its time was over; \`millrace status ${queue} ${jobId}\` looks in the queue.`,
  );
}

function render({ queue, jobId, reason, quarantinedAt, kind, fields, binaryFields }: QuarantinedRecord): string {
  return renderFields([
    ["job", `${queue} ${jobId}`],
    ["reason", reason],
    ["since", quarantinedAt],
    ["kind", kind],
    ...Object.entries(fields).map(([name, text]) => [`  ${name}`, text] as const),
    ...Object.entries(binaryFields).map(([name, base64]) => [`  ${name} (base64)`, base64] as const),
  ]);
}
