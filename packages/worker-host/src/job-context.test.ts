import { enqueue } from "@millrace/worker-config";
import { defineQueue, maxMetaEntries } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";
import type { JobContext } from "./job-context.ts";

const contract = defineQueue("default", {
  parent: {
    data: z.object({ order: z.string(), workspaceId: z.string() }),
    idempotencyKey: ({ order }) => order,
    workspaceId: ({ workspaceId }) => workspaceId,
  },
  child: { data: z.object({ text: z.string().optional() }) },
});
const { work, add, ended } = useQueue(contract);
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

function recordContexts(meta: Record<string, string> = { tenant: "a" }, data: { text?: string } = {}) {
  const contexts: JobContext[] = [];
  const childStarted = Promise.withResolvers<void>();
  const handlers = {
    parent: async (_: unknown, context: JobContext) => {
      contexts.push(context);
      await context.progress(50);
      await context.enqueue(contract, "child", data, { meta });
    },
    child: async (_: unknown, context: JobContext) => {
      contexts.push(context);
      childStarted.resolve();
    },
  };
  return { contexts, handlers, childStarted: childStarted.promise };
}

test("a handler learns what the job is, and its own jobs belong to the same trace", async () => {
  const { contexts, handlers, childStarted } = recordContexts();
  await work(handlers);
  const data = { order: "order-1", workspaceId: "workspace-1" };
  const jobId = await add("parent", data, { meta: { traceparent }, attempts: 1 });
  await childStarted;
  const [parent, child] = contexts;
  expect(parent).toMatchObject({
    queue: "default",
    action: "parent",
    jobId,
    attempt: 1,
    isFinalAttempt: true,
    idempotencyKey: "order-1",
    workspaceId: "workspace-1",
    traceparent,
    meta: { traceparent },
  });
  expect(child).toMatchObject({ action: "child", traceparent, idempotencyKey: undefined, workspaceId: undefined });
  expect((await ended(jobId)).progress).toBe(50);
});

test.each([
  ["without a trace", undefined],
  ["with a trace that is none", "00-short-x-01"],
])("a job %s begins one", async (_, given) => {
  const { contexts, handlers, childStarted } = recordContexts();
  await work(handlers);
  const options = given === undefined ? {} : { meta: { traceparent: given } };
  await enqueue(contract, "parent", { order: `order-${given}`, workspaceId: "w" }, options);
  await childStarted;
  expect(contexts[0]?.traceparent).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-01$/);
  expect(contexts[1]?.traceparent).toBe(contexts[0]?.traceparent);
});

test("a job of a handler that has as many labels as it may is added with those alone", async () => {
  const labels = Object.fromEntries(Array.from({ length: maxMetaEntries }, (_, index) => [`label-${index}`, "a"]));
  const { contexts, handlers, childStarted } = recordContexts(labels);
  await work(handlers);
  await add("parent", { order: "order-full", workspaceId: "w" }, { meta: { traceparent } });
  await childStarted;
  expect(contexts[1]?.meta).toEqual(labels);
});

test("a job of a handler that is as large as it may be is added without the trace", async () => {
  const meta = { tenant: "a" };
  const emptyBytes = JSON.stringify({ type: "child", data: { text: "" }, meta }).length;
  const { contexts, handlers, childStarted } = recordContexts(meta, { text: "a".repeat(262_144 - emptyBytes) });
  await work(handlers);
  await add("parent", { order: "order-large", workspaceId: "w" }, { meta: { traceparent } });
  await childStarted;
  expect(contexts[1]?.meta).toEqual(meta);
});
