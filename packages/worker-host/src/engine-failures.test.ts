import { createLogger } from "@millrace/logger";
import { cancelledReason, defineQueue } from "@millrace/worker-config/contracts";
import { FlowProducer } from "bullmq";
import { expect, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";
import { PermanentError } from "./job-error.ts";
import type { SettledStart } from "./job-observer.ts";

const contract = defineQueue("default", { parent: { data: z.object({}) }, child: { data: z.object({}) } });
const { prefix, raw, work, add, ended } = useQueue(contract);

const handlers = {
  parent: async () => {},
  child: async () => {
    throw new PermanentError("no");
  },
};

/** The lines of jobs that ended without their handler. */
function recorded(action: string) {
  const lines: object[] = [];
  const write = (line: string) => {
    const parsed = JSON.parse(line);
    if (parsed.action === action) lines.push(parsed);
  };
  return { lines, log: createLogger({ level: "info", format: "json", destination: { write } }) };
}

test("a flow's parent that fails with its child is a failure in the log and to whoever counts, and no cancellation", async () => {
  const { lines, log } = recorded("parent");
  const starts: SettledStart[] = [];
  const flows = new FlowProducer({ connection: { ...raw.opts.connection }, prefix });
  const child = { name: "child", queueName: "default", data: { type: "child", data: {} } };
  const { job } = await flows.add({
    name: "parent",
    queueName: "default",
    data: { type: "parent", data: {} },
    children: [{ ...child, opts: { failParentOnFailure: true } }],
  });
  await flows.close();
  await work(handlers, { log, observers: [{ settled: (start) => starts.push(start) }] });
  expect(await (await ended(job.id ?? "")).getState()).toBe("failed");
  await expect.poll(() => lines).toMatchObject([{ level: 50, outcome: "failed", code: "child_failed" }]);
  expect(starts.filter(({ action }) => action === "parent")).toMatchObject([
    { jobId: job.id, outcome: "failed", code: "child_failed", waitMs: null, durationMs: null },
  ]);
});

test("a job that was cancelled while it waited is a cancellation in the log, and no failure", async () => {
  const { lines, log } = recorded("parent");
  const jobId = await add("parent", {});
  await (await raw.getBackend().client).runCommand("hset", [raw.toKey(jobId), "defa", cancelledReason]);
  await work(handlers, { log });
  await ended(jobId);
  await expect.poll(() => lines).toMatchObject([{ level: 30, outcome: "cancelled", code: "cancelled" }]);
});
