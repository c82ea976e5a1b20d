import { parseArgs } from "node:util";
import { z } from "zod";

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

export type ChaosOptions = z.output<typeof optionsSchema>;

/** @throws an error that names each argument that is wrong, and shows how the command is used */
export function readOptions(argv: string[]): ChaosOptions {
  const names = { jobs: { type: "string" }, seconds: { type: "string" }, seed: { type: "string" } } as const;
  const { data, error } = optionsSchema.safeParse(parseArgs({ args: argv, options: names }).values);
  if (data) return data;
  const wrong = error.issues.map((issue) => `--${issue.path.join(".")}: ${issue.message}.`);
  throw new Error([...wrong, "", usage].join("\n"));
}
