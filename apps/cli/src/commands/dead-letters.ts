import type { Command } from "@commander-js/extra-typings";
import {
  type DeadLetterFilter,
  type LetterGroup,
  listDeadLetters,
  purgeDeadLetters,
  replayDeadLetters,
} from "@millrace/job-admin";
import type { QueueName } from "@millrace/worker-config/contracts";
import { collect, collectQueues, parseDuration, parsePageSize, parseWhole } from "../arguments.ts";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { examples } from "../examples.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Effect, operate, showEffect } from "../operate.ts";
import { renderPage } from "../page.ts";
import { renderTable } from "../table.ts";

/** `dead-letters list | replay | purge`: jobs that failed for good. */
export function deadLetterCommands(program: Command, cli: Cli): void {
  const group = program.command("dead-letters").description("Jobs that failed for good: list, replay, purge.");
  listCommand(group, cli);
  replayCommand(group, cli);
  purgeCommand(group, cli);
}

/** The options by which all three choose letters. */
function withFilter(command: Command) {
  return command
    .option("--queue <name>", "only this queue's; may be given several times", collectQueues)
    .option("--action <name>", "only this action's; may be given several times", collect)
    .option("--code <code>", "only with this code; may be given several times", collect)
    .option("--text <text>", "only with this text in the failure's message or the job's id");
}

function toFilter(options: {
  readonly queue?: QueueName[] | undefined;
  readonly action?: string[] | undefined;
  readonly code?: string[] | undefined;
  readonly text?: string | undefined;
  readonly olderThan?: number | undefined;
  readonly newerThan?: number | undefined;
}): DeadLetterFilter {
  return {
    queues: options.queue,
    actions: options.action,
    codes: options.code,
    text: options.text,
    olderThanMs: options.olderThan,
    newerThanMs: options.newerThan,
  };
}

function listCommand(group: Command, cli: Cli): void {
  withFilter(group.command("list").description("Lists dead letters, the newest first, without their payloads."))
    .option("--older-than <duration>", "failed at least so long ago", parseDuration)
    .option("--newer-than <duration>", "failed at most so long ago", parseDuration)
    .option("--limit <number>", "letters at most, 200 or fewer", parsePageSize, 50)
    .option("--cursor <cursor>", "where an earlier page ended")
    .addHelpText(
      "after",
      examples(
        "millrace dead-letters list --queue email --newer-than 1h",
        "millrace dead-letters list --code timeout --json",
      ),
    )
    .action(async ({ limit, cursor, ...options }) => {
      const page = await listDeadLetters(toFilter(options), { limit, cursor });
      cli.show(page, () => {
        const rows = page.letters.map((letter) => [
          letter.failedAt,
          letter.queue,
          letter.jobId,
          letter.action ?? "?",
          { text: letter.code, paint: (text: string) => cli.paint("red", text) },
          letter.attemptsMade,
          letter.message,
        ]);
        const head = ["failed", "queue", "job", "action", "code", "attempts", "message"];
        return renderPage(cli, { head, rows, cursor: page.cursor, empty: "no dead letters" });
      });
    });
}

function replayCommand(group: Command, cli: Cli): void {
  withFilter(
    group
      .command("replay")
      .description("Sends dead letters back to their queues, the oldest first, with all their attempts."),
  )
    .option("--older-than <duration>", "failed at least so long ago", parseDuration)
    .option("--newer-than <duration>", "failed at most so long ago", parseDuration)
    .option("--limit <number>", "letters at most", parseWhole)
    .option("--rate <number>", "replays per second at most", parseWhole, 100)
    .option("--dry-run", "only say what would be replayed")
    .option("--yes", "do not ask")
    .addHelpText(
      "after",
      examples(
        "millrace dead-letters replay --queue email --code smtp_421 --dry-run",
        "millrace dead-letters replay --queue email --newer-than 2h --yes",
      ),
    )
    .action(async ({ limit, rate, dryRun = false, yes, ...options }) => {
      const request = { filter: toFilter(options), dryRun, ratePerSecond: rate, ...(limit !== undefined && { limit }) };
      const replay = async (): Promise<Effect> => {
        const report = await replayDeadLetters(request, { signal: cli.signal });
        const refused = Object.entries(report.refused).map(([reason, count]) => `\n${count} stayed: ${reason}`);
        return {
          exitCode: report.replayed === 0 ? exitCodes.failed : exitCodes.done,
          document: report,
          text:
            renderGroups(cli, dryRun ? "would be replayed" : "replayed", report.replayed, report.groups) +
            refused.join(""),
          isCutOff: report.isStopped && cli.signal.aborted,
          facts: {
            replayed: report.replayed,
            refused: Object.values(report.refused).reduce((sum, count) => sum + count, 0),
          },
        };
      };
      if (dryRun) return showEffect(cli, await replay());
      await confirm(cli, "Replay these dead letters?", yes);
      await operate(cli, { action: "dead-letter.replay-many", target: targetOf(request.filter) }, replay);
    });
}

function purgeCommand(group: Command, cli: Cli): void {
  withFilter(
    group
      .command("purge")
      .description(
        "Removes dead letters, and what lies in quarantine (code quarantined), for good. Without --code cancelled jobs go as well.",
      ),
  )
    .requiredOption("--older-than <duration>", "failed at least so long ago", parseDuration)
    .option("--limit <number>", "removals at most, the oldest first", parseWhole)
    .option("--dry-run", "only say what would be removed")
    .option("--yes", "do not ask")
    .addHelpText(
      "after",
      examples(
        "millrace dead-letters purge --older-than 30d --dry-run",
        "millrace dead-letters purge --queue email --older-than 30d --yes",
      ),
    )
    .action(async ({ limit, olderThan, dryRun = false, yes, ...options }) => {
      const filter = toFilter(options);
      const { olderThanMs: _, newerThanMs: __, ...kinds } = filter;
      const request = { olderThanMs: olderThan, filter: kinds, dryRun, ...(limit !== undefined && { limit }) };
      const purge = async (): Promise<Effect> => {
        const report = await purgeDeadLetters(request, cli.signal);
        return {
          exitCode: report.removed === 0 ? exitCodes.failed : exitCodes.done,
          document: report,
          text:
            renderGroups(cli, dryRun ? "would be removed" : "removed", report.removed, report.groups) +
            (report.quarantined > 0 ? `, ${report.quarantined} of them from quarantine` : ""),
          isCutOff: report.isStopped && cli.signal.aborted,
          facts: { removed: report.removed, quarantined: report.quarantined },
        };
      };
      if (dryRun) return showEffect(cli, await purge());
      await confirm(cli, "Remove these dead letters, and what lies in quarantine, for good?", yes);
      await operate(
        cli,
        { action: "dead-letter.purge", target: { ...targetOf(filter), olderThanMs: olderThan } },
        purge,
      );
    });
}

/** What was chosen by, but for a text, which may be a piece of a payload. */
function targetOf({ text: _, ...filter }: DeadLetterFilter): Record<string, string> {
  return Object.fromEntries(
    Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}

function renderGroups(cli: Cli, what: string, total: number, groups: readonly LetterGroup[]): string {
  if (groups.length === 0) return `${total} ${what}`;
  const rows = groups.map(({ count, queue, action, code }) => [count, queue, action ?? "?", code]);
  return `${renderTable(["count", "queue", "action", "code"], rows, (text) => cli.paint("bold", text))}\n${total} ${what}`;
}
