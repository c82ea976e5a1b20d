/** `pnpm chaos`: jobs through workers, a producer and a Redis that are killed all the time, and what is left of them. */
import { parseArgs } from "node:util";
import { readDevServicesEnv } from "@millrace/dev-services";
import { z } from "zod";
import { renderReport } from "./report.ts";
import { runChaos } from "./run-chaos.ts";

const usage = `pnpm chaos [--jobs 20000] [--seconds 120] [--seed 1]

  --jobs     how many jobs, up to 90000: a queue keeps no more than 100000 that completed
  --seconds  how long they are added and things are killed, from 5 to 3600
  --seed     the same seed kills the same things at the same times; any number, by default another each time
`;

const optionsSchema = z.object({
  jobs: z.coerce.number().int().min(1).max(90_000).default(20_000),
  seconds: z.coerce.number().int().min(5).max(3_600).default(120),
  seed: z.coerce
    .number()
    .int()
    .nonnegative()
    .default(() => Date.now() % 1_000_000),
});

const ending = new AbortController();
const endBy = (why: string) => ending.abort(new Error(`Ended by ${why}: the run shows nothing.`));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, endBy);
// Whoever started this is gone, killed perhaps, and nobody is left to send a signal.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && endBy("the end of its parent"), 500).unref();

try {
  const options = readOptions();
  const report = await runChaos(
    { ...options, redis: readDevServicesEnv().DEV_REDIS, env: { LOG_LEVEL: "silent", ...process.env }, say },
    ending.signal,
  );
  say(renderReport(report));
  process.exit(report.faults.length === 0 ? 0 : 1);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

function readOptions(): z.output<typeof optionsSchema> {
  const names = { jobs: { type: "string" }, seconds: { type: "string" }, seed: { type: "string" } } as const;
  const { data, error } = optionsSchema.safeParse(parseArgs({ options: names }).values);
  if (data) return data;
  const wrong = error.issues.map((issue) => `--${issue.path.join(".")}: ${issue.message}.`);
  throw new Error([...wrong, "", usage].join("\n"));
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
