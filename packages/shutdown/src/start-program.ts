import { type ReadEnv, StartError } from "@millrace/env";
import { createLogger, getChildLogger, type Logger } from "@millrace/logger";
import { isProduction } from "./env.ts";

/**
 * The first line of a program: reads all of its settings at once. From here on an error that nobody caught is said and ends the process with 1,
 * which would be in an unknown state. What a person can mend (`StartError`) is its message alone: a line of text, or in production of the log as
 * JSON, whatever the level. Anything else is `crashed` in the log, with its stack.
 *
 * @param name whose lines these are in the log, such as `worker:email`
 * @param readSettings what the program reads, as its env.ts says; its error is such an end as well
 * @returns the settings, and the program's logger
 */
export function startProgram<Settings>(
  name: string,
  readSettings: ReadEnv<Settings>,
): { readonly settings: Settings; readonly log: Logger } {
  let log: Logger | undefined;
  process.on("uncaughtException", (err) => {
    // Without its settings there is no logger yet.
    const crashLog = log ?? createLogger({ name, level: "info", format: "json" });
    try {
      if (!(err instanceof StartError)) crashLog.fatal({ err }, "crashed");
      else if (isProduction())
        createLogger({ name, level: "fatal", format: "json" }).fatal({ code: "cannot_start" }, err.message);
      else process.stderr.write(`${err.message}\n`);
    } catch {
      // An error in here would be Node's own text, and another exit code.
      crashLog.fatal("crashed, by something that throws when it is looked at");
    }
    process.exit(1);
  });
  const settings = readSettings();
  log = getChildLogger(name);
  return { settings, log };
}
