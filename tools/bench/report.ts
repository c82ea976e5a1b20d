import type { Measurement, SubjectName } from "./measurement.ts";

/** A subject as one side of a ratio: the same subject may stand for itself twice, to show the noise. */
export interface Side {
  readonly label: string;
  readonly subject: SubjectName;
}

interface Budget {
  readonly name: string;
  readonly baseline: Side;
  readonly subject: Side;
  readonly figure: keyof Measurement;
  /** In words, as the design states it. */
  readonly limit: string;
  /** Whether a ratio keeps the budget. Without it nothing is promised. */
  readonly isKept?: (ratio: number) => boolean;
}

const side = (subject: SubjectName, label: string = subject): Side => ({ label, subject });
const raw = side("raw");
const rawAgain = side("raw", "raw again");
const host = side("host");
const hostLogging = side("hostLogging");
const hostIdempotent = side("hostIdempotent");
const raw5ms = side("raw5ms");
const host5ms = side("host5ms");

/** The processor's time instead of the clock's, which also counts what the machine did for others. */
const cpuOf = (baseline: Side, subject: Side): Budget => ({
  name: "  the same, CPU per job",
  baseline,
  subject,
  figure: "cpuMicrosPerJob",
  limit: "",
});

export const budgets: readonly Budget[] = [
  { name: "noise: raw against raw", baseline: raw, subject: rawAgain, figure: "jobsPerSecond", limit: "1.00" },
  { name: "  the same, latency", baseline: raw, subject: rawAgain, figure: "medianLatencyMs", limit: "1.00" },
  {
    name: "1 validation, metrics, context",
    baseline: raw,
    subject: host,
    figure: "jobsPerSecond",
    limit: ">= 0.90",
    isKept: (ratio) => ratio >= 0.9,
  },
  cpuOf(raw, host),
  {
    name: "2 with its log lines",
    baseline: raw,
    subject: hostLogging,
    figure: "jobsPerSecond",
    limit: ">= 0.80",
    isKept: (ratio) => ratio >= 0.8,
  },
  cpuOf(raw, hostLogging),
  {
    name: "3 with idempotency",
    baseline: raw,
    subject: hostIdempotent,
    figure: "jobsPerSecond",
    limit: ">= 0.70",
    isKept: (ratio) => ratio >= 0.7,
  },
  cpuOf(raw, hostIdempotent),
  {
    name: "4 a 5 ms handler, everything on",
    baseline: raw5ms,
    subject: host5ms,
    figure: "jobsPerSecond",
    limit: ">= 0.95",
    isKept: (ratio) => ratio >= 0.95,
  },
  cpuOf(raw5ms, host5ms),
  {
    name: "  without idempotency",
    baseline: raw5ms,
    subject: side("hostLogging5ms"),
    figure: "jobsPerSecond",
    limit: "",
  },
  // Nobody traces in any of these rows: that this costs nothing is part of the first budget. What is asked for may cost something.
  {
    name: "5 trace context asked for, not traced",
    baseline: host,
    subject: side("hostTraced"),
    figure: "jobsPerSecond",
    limit: "none: off is in 1",
  },
  {
    name: "6 Redis scripts per job",
    baseline: raw,
    subject: host,
    figure: "redisCommandsPerJob",
    limit: "1.00",
    isKept: (ratio) => Math.abs(ratio - 1) < 0.01,
  },
  {
    name: "7 latency, add to start",
    baseline: raw,
    subject: host,
    figure: "medianLatencyMs",
    limit: "<= 1.10",
    isKept: (ratio) => ratio <= 1.1,
  },
];

/** Whatever stands on a side of a budget, once. */
export const sides: readonly Side[] = [
  ...new Map(
    budgets.flatMap(({ baseline, subject }) => [
      [baseline.label, baseline],
      [subject.label, subject],
    ]),
  ).values(),
];

/** A table of every budget: both medians, the median of the rounds' ratios, and between which the middle half of them lies. */
export function reportBudgets(measured: ReadonlyMap<string, readonly Measurement[]>): string {
  const head = ["budget", "baseline", "Millrace", "ratio", "middle half", "limit", ""];
  const rows = budgets.map((budget) => rowOf(budget, measured));
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? "").length)));
  const lines = [head, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `\n${lines.join("\n")}\n`;
}

function rowOf(budget: Budget, measured: ReadonlyMap<string, readonly Measurement[]>): string[] {
  const figures = (label: string) => (measured.get(label) ?? []).map((measurement) => measurement[budget.figure]);
  const baseline = figures(budget.baseline.label);
  const subject = figures(budget.subject.label);
  const ratios = subject.map((value, round) => value / (baseline[round] ?? Number.NaN)).sort((a, b) => a - b);
  const ratio = median(ratios);
  const quartile = Math.floor(ratios.length / 4);
  const verdict = budget.isKept ? (budget.isKept(ratio) ? "kept" : "MISSED") : "";
  return [
    budget.name,
    format(median(baseline)),
    format(median(subject)),
    ratio.toFixed(2),
    `${ratios.at(quartile)?.toFixed(2)}–${ratios.at(-1 - quartile)?.toFixed(2)}`,
    budget.limit,
    verdict,
  ];
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

function format(value: number): string {
  return value >= 1_000 ? Math.round(value).toString() : value.toFixed(value >= 100 ? 0 : 2);
}
