import { readFile } from "node:fs/promises";
import { addAbortSignal } from "node:stream";
import { text } from "node:stream/consumers";
import type { Command } from "@commander-js/extra-typings";
import { contracts, enqueueUnchecked, type QueueContract, targetContract } from "@millrace/worker-config";
import { parseDuration, parseQueue, parseWhole } from "../arguments.ts";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { examples } from "../examples.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Effect, operate, showEffect } from "../operate.ts";

/** `enqueue`: adds a job, as producers do. */
export function enqueueCommand(program: Command, cli: Cli): void {
  program
    .command("enqueue")
    .description("Adds a job. Its data comes from --data, --data-file, or stdin.")
    .argument("<queue>", "the queue's name", parseQueue)
    .argument("<action>", "an action of that queue")
    .option("--data <json>", "the data, as JSON")
    .option("--data-file <file>", "a file that holds the data; - is stdin")
    .option("--id <id>", "the job's id: one that exists adds nothing and answers duplicate")
    .option(
      "--priority <number>",
      "1 is the most urgent, 10 the least; of aiAgent, 1 to 3 go to aiAgentUrgent",
      parseWhole,
    )
    .option("--delay <duration>", "wait this long before the first attempt", parseDuration)
    .option("--run-at <time>", "run no earlier than this moment, such as 2030-01-01T06:00:00Z")
    .option("--attempts <number>", "how often it may be tried in all", parseWhole)
    .option("--timeout <duration>", "how long one attempt may take", parseDuration)
    .addHelpText(
      "after",
      examples(
        `millrace enqueue email sendEmail --data '{"to":"ada@example.com","subject":"Hello","text":"Hi"}'`,
        "millrace enqueue email sendEmail --data-file mail.json --id welcome-ada --delay 10m",
        "jq .mail order.json | millrace enqueue email sendEmail --json",
      ),
    )
    .action(async (queue, action, options) => {
      const data = await readData(cli, options);
      // Of an action that there is not, that is said instead.
      const known = Object.hasOwn(contracts[queue].actions, action);
      if (data === undefined && known) throw missingData(contracts[queue], action);
      const asked = {
        delayMs: options.delay,
        runAt: options.runAt,
        priority: options.priority,
        attempts: options.attempts,
        timeoutMs: options.timeout,
        jobId: options.id,
      };
      const contract: QueueContract = contracts[queue];
      const add = () => enqueue(targetContract(contract, asked), action, data, asked);
      // What the house does by itself removes what others look for, so that setting it off is an operator's action.
      if (contract.settings.isHousekeeping) {
        await operate(cli, { action: "housekeeping.enqueue", target: { queue, action } }, add);
      } else showEffect(cli, await add());
    });
}

async function enqueue(contract: QueueContract, action: string, data: unknown, asked: object): Promise<Effect> {
  const { name: queue } = contract;
  const { status, jobId } = await enqueueUnchecked(contract, action, data, withoutUndefined(asked));
  return {
    document: { status, queue, action, jobId },
    text: status === "created" ? `created ${queue} ${jobId}` : `duplicate ${queue} ${jobId}: no further job was added`,
    facts: { jobId },
  };
}

/** An option that is there and undefined would be one more to refuse. */
function withoutUndefined(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** Undefined where there is none: nobody names any, and stdin is a terminal or empty. */
async function readData(
  cli: Cli,
  { data, dataFile }: { readonly data?: string | undefined; readonly dataFile?: string | undefined },
): Promise<unknown> {
  if (data !== undefined && dataFile !== undefined) throw usage("expected --data or --data-file, got both");
  if (data !== undefined) return parseJson(data, "--data");
  if (dataFile !== undefined && dataFile !== "-") {
    const content = await readFile(dataFile, "utf8").catch((cause: NodeJS.ErrnoException) => {
      throw usage(`--data-file: cannot read ${dataFile} (${cause.code})`);
    });
    return parseJson(content, dataFile);
  }
  if (dataFile === undefined && cli.stdin.isTTY) return undefined;
  // Ctrl-C ends the wait for somebody who types.
  const piped = await text(addAbortSignal(cli.signal, cli.stdin));
  return dataFile === undefined && piped.trim() === "" ? undefined : parseJson(piped, "stdin");
}

function missingData({ name: queue, actions }: QueueContract, action: string): CliError {
  const example = actions[action]?.example;
  const advice =
    example === undefined
      ? ""
      : ` For example: millrace enqueue ${queue} ${action} --data ${quote(JSON.stringify(example))}`;
  return usage(`expected the job's data, got none: add --data JSON or --data-file FILE, or pipe JSON in.${advice}`);
}

/** As one word of a POSIX shell. */
function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The parser's own message would repeat a piece of the payload. */
function parseJson(content: string, from: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    throw new CliError(
      exitCodes.usage,
      "invalid_json",
      `${from}: expected JSON, got ${content.length} characters that are none`,
    );
  }
}

function usage(message: string): CliError {
  return new CliError(exitCodes.usage, "usage", message);
}
