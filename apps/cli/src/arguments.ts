import { InvalidArgumentError } from "@commander-js/extra-typings";
import { type QueueName, queueNames } from "@millrace/worker-config/contracts";

export function parseQueue(text: string): QueueName {
  const parsed = queueNames.safeParse(text);
  if (!parsed.success) throw new InvalidArgumentError(`Expected one of ${queueNames.options.join(", ")}.`);
  return parsed.data;
}

/** For an option that may be given several times. */
export function collectQueues(text: string, before: QueueName[] | undefined): QueueName[] {
  return [...(before ?? []), parseQueue(text)];
}

/** For an option that may be given several times. */
export function collect(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), text];
}

export function parseWhole(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("Expected a whole number.");
  return Number(text);
}

/** What lists give at once: 200 at most, as their functions and the API have it. */
export function parsePageSize(text: string): number {
  const size = parseWhole(text);
  if (size < 1 || size > 200) throw new InvalidArgumentError("Expected 1 to 200.");
  return size;
}

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `500ms`, `30s`, `10m`, `2h`, `7d`, in milliseconds. */
export function parseDuration(text: string): number {
  const [, number = "", unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const factor = Object.entries(units).find(([name]) => name === unit)?.[1];
  if (factor === undefined) throw new InvalidArgumentError("Expected a duration such as 500ms, 30s, 10m, 2h or 7d.");
  return Math.round(Number(number) * factor);
}
