import { Command } from "@commander-js/extra-typings";
import type { Cli } from "./cli.ts";
import { deadLetterCommands } from "./commands/dead-letters.ts";
import { enqueueCommand } from "./commands/enqueue.ts";
import { keyCommands } from "./commands/keys.ts";
import { listCommand } from "./commands/list.ts";
import { oneJobCommands } from "./commands/one-job.ts";
import { ownerCommands } from "./commands/owners.ts";
import { quarantineCommands } from "./commands/quarantine.ts";
import { queueCommands } from "./commands/queues.ts";
import { scheduleCommands } from "./commands/schedules.ts";
import { statsCommand } from "./commands/stats.ts";
import { statusCommand } from "./commands/status.ts";
import { watchCommand } from "./commands/watch.ts";
import { workersCommand } from "./commands/workers.ts";
import { exitCodeHelp } from "./exit-codes.ts";

/** Every command, ready to parse. Building it opens nothing. */
export function buildProgram(cli: Cli): Command {
  const program = new Command("millrace")
    .description("Operates Millrace's queues over Redis, at REDIS_URL and QUEUE_PREFIX.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => cli.stdout.write(text),
      writeErr: (text) => cli.stderr.write(cli.isJson ? "" : text),
      // Said once, by whoever runs the program.
      outputError: () => {},
    })
    .configureHelp({ showGlobalOptions: true })
    .addHelpText("after", exitCodeHelp);
  for (const addTo of commands) addTo(program, cli);
  program.option("--json", "print JSON, one document a line: the answer on stdout, errors on stderr");
  return program;
}

const commands: readonly ((program: Command, cli: Cli) => void)[] = [
  enqueueCommand,
  statusCommand,
  watchCommand,
  listCommand,
  oneJobCommands,
  statsCommand,
  queueCommands,
  deadLetterCommands,
  quarantineCommands,
  scheduleCommands,
  workersCommand,
  ownerCommands,
  keyCommands,
];
