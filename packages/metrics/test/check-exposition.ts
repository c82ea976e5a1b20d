import { spawnSync } from "node:child_process";

const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})? (\S+)$/;
const parts = /_(bucket|sum|count)$/;

/**
 * What is wrong with a process's answer to a scrape: nothing, when it is sound. Where promtool is on PATH it has the last word; what it would
 * say of the commonest faults is checked everywhere.
 */
export function checkExposition(text: string): string[] {
  return [...checkFamilies(text), ...askPromtool(["check", "metrics"], text)];
}

/** What promtool has to say, or nothing where there is none. */
export function askPromtool(args: readonly string[], input = ""): string[] {
  const { error, status, stdout, stderr } = spawnSync("promtool", args, { input, encoding: "utf8" });
  if (error && "code" in error && error.code === "ENOENT") return [];
  if (error) throw error;
  return status === 0 ? [] : [`promtool: ${stdout}${stderr}`];
}

/** How many series there are of ours. Node's and the process's own come and go by themselves, as with a kind of garbage collection. */
export function countSeries(text: string): number {
  return text.split("\n").filter((line) => sample.test(line) && !/^(nodejs|process)_/.test(line)).length;
}

/** The names of the metrics, as `# TYPE` says them. */
export function metricNames(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = ""]) => name);
}

function checkFamilies(text: string): string[] {
  const types = new Map<string, string>();
  const seen = new Set<string>();
  const problems: string[] = [];
  for (const line of text.split("\n").filter((each) => each !== "")) {
    const [, word, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (word === "HELP" && rest === "") problems.push(`${name} has no help`);
    if (word === "TYPE") problems.push(...checkType(types, name, rest));
    if (word) continue;
    const [, metric = "", labels = ""] = sample.exec(line) ?? [];
    if (metric === "") problems.push(`no sample: ${line}`);
    if (!types.has(metric) && types.get(metric.replace(parts, "")) !== "histogram")
      problems.push(`${metric} has no type`);
    if (seen.has(metric + labels)) problems.push(`${metric}${labels} is there twice`);
    seen.add(metric + labels);
  }
  return problems;
}

function checkType(types: Map<string, string>, name: string, type: string): string[] {
  const isTwice = types.has(name);
  types.set(name, type);
  return [
    ...(isTwice ? [`${name} has two types`] : []),
    ...((type === "counter") !== name.endsWith("_total") ? [`${name} is a ${type}: _total is for counters alone`] : []),
    ...(/_(ms|millis|milliseconds|minutes|percent)(_|$)/.test(name) ? [`${name}: expected a base unit`] : []),
  ];
}
