import { type DestinationStream, type Logger, pino } from "pino";
import { build as prettyStream } from "pino-pretty";
import { readLoggerEnv } from "./env.ts";
import { searchObjectsAlone } from "./search-objects-alone.ts";
import { serializeError } from "./serialize-error.ts";

export type { Logger };

/** Names under which a secret or personal data travels by habit. Payloads are never logged at all; this is the second net. */
const redactedNames = ["password", "authorization", "cookie", "token", "apiKey", "secret", "payload", "data"];

// ioredis hangs the failed command on its errors: its arguments are the payload, where one is logged under another name than `err`.
const redactedPaths = ["*.command.args", ...redactedNames.flatMap((name) => [name, `*.${name}`])];

/**
 * A pino logger whose lines carry `name`, ISO time, and errors under `err` with their stack and causes.
 *
 * @param options.level defaults to `LOG_LEVEL`, else `info`
 * @param options.format defaults to `LOG_FORMAT`, else `json`; `pretty` is for a person at a terminal
 * @param options.destination defaults to standard output, written synchronously so that a crash loses no line. A line that it refuses is lost,
 *   and whoever logged goes on.
 */
export function createLogger(
  options: { name?: string; level?: string; format?: "json" | "pretty"; destination?: DestinationStream } = {},
): Logger {
  const { level = readLoggerEnv().LOG_LEVEL, format = readLoggerEnv().LOG_FORMAT, name } = options;
  const destination =
    options.destination ??
    (format === "pretty"
      ? prettyStream({
          colorize: true,
          sync: true,
          singleLine: true,
          ignore: "pid,hostname,name",
          translateTime: "SYS:HH:MM:ss.l",
        })
      : pino.destination({ dest: 1, sync: true }));
  const logger = pino(
    {
      ...(name !== undefined && { name }),
      level,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: serializeError },
      redact: { paths: redactedPaths, censor: "[redacted]" },
    },
    unfailing(destination),
  );
  searchObjectsAlone(logger);
  return logger;
}

/**
 * A full disk or a closed pipe costs lines. An error here would reach whoever logs: a job that is done would count as failed, and have its
 * effect again.
 */
function unfailing(destination: DestinationStream): DestinationStream {
  return {
    write: (line) => {
      try {
        destination.write(line);
      } catch {
        // There is nowhere left to say so.
      }
    },
  };
}

let root: Logger | undefined;

/** The process's logger, bound to `name`: the room or worker that speaks. Made on first use, from `LOG_LEVEL` and `LOG_FORMAT`. */
export function getChildLogger(name: string): Logger {
  root ??= createLogger();
  return root.child({ name });
}
