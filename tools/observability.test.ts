import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  createHttpMetrics,
  createJobMetrics,
  createQueueMetrics,
  createRedisMetrics,
  createRegistry,
  createScheduleMetrics,
  createWorkerMetrics,
} from "@millrace/metrics";
import { askPromtool, metricNames } from "@millrace/metrics/testing";
import { emailContract } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { root } from "./workers.ts";

const rulesFile = join(root, "docs/alert-rules.yml");
const ruleSchema = z.object({ alert: z.string(), expr: z.string(), annotations: z.object({ summary: z.string() }) });
const rules = z
  .object({ groups: z.array(z.object({ rules: z.array(ruleSchema) })) })
  .parse(parse(readFileSync(rulesFile, "utf8")))
  .groups.flatMap((group) => group.rules);
const { panels } = z
  .object({ panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).min(1) })) })
  .parse(JSON.parse(readFileSync(join(root, "docs/grafana-dashboard.json"), "utf8")));

/** Every metric that a process of ours exports. */
const exported = new Set(metricNames(await scrapeAll()));

function scrapeAll(): Promise<string> {
  const registry = createRegistry();
  createJobMetrics(registry, emailContract);
  createWorkerMetrics(registry, emailContract, { isReady: () => true, clockSkewMs: () => 0 });
  createQueueMetrics(registry, async () => []);
  createRedisMetrics(registry, async () => ({ usedBytes: 1, maxBytes: 0 }));
  createHttpMetrics(registry);
  createScheduleMetrics().registerIn(registry);
  return registry.metrics();
}

/** The names in an expression that are no function, no word of the language and no label. */
function namesIn(expression: string): string[] {
  const bare = expression
    .replace(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"|\boffset +\w+/g, " ")
    .replace(/\b(by|on|without|ignoring) *\([^)]*\)/g, " ");
  const words = [...bare.matchAll(/[a-z_][a-z0-9_]*\b(?! *\()/g)].map(([word]) => word);
  return words.filter((word) => !["and", "or", "unless"].includes(word));
}

test.each([
  ...rules.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [`panel ${title}`, expr] as const)),
])("%s asks for metrics that are exported", (_, expression) => {
  const names = namesIn(expression);
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) expect(exported).toContain(name.replace(/_(bucket|sum|count)$/, ""));
});

test("the alert rules are sound and fire when they are to, where promtool is there to say so", () => {
  expect(rules.length).toBeGreaterThan(7);
  expect(askPromtool(["check", "rules", rulesFile])).toEqual([]);
  expect(askPromtool(["test", "rules", join(root, "tools/alert-rules.yml")])).toEqual([]);
});

test("docs/observability.md says of each alert what to do", () => {
  const document = readFileSync(join(root, "docs/observability.md"), "utf8");
  for (const { alert } of rules) expect(document).toContain(`\`${alert}\``);
});
