import { getRedisConnection } from "@millrace/worker-config";
import { defineQueue, replayFields } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { startNetwork } from "../test/network.ts";
import { useQueue } from "../test/use-queue.ts";
import type { WorkspaceStandings } from "./job-host.ts";

const contract = defineQueue("default", {
  charge: {
    data: z.object({ order: z.string() }),
    result: z.object({ by: z.string() }),
    timeout: 10_000,
    workspaceId: ({ order }) => order,
    idempotencyKey: ({ order }) => order,
  },
});
const { raw, work, add, ended } = useQueue(contract);

test("a start that was cut off before its claim, and claims when a later start has begun, does not end that one's claim", async () => {
  const network = await startNetwork(getRedisConnection("worker"));
  const times = { lockDurationMs: 1_000, stalledIntervalMs: 500, concurrency: 1 };
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const settled = Promise.withResolvers<void>();
  // Between a start and its claim lies the look at the workspace.
  const workspaces: WorkspaceStandings = {
    standingOf: async () => {
      asked.resolve();
      await answer.promise;
      return { standing: "active" };
    },
    workspaceOf: async () => undefined,
  };
  const ran: string[] = [];
  const early = async () => {
    ran.push("early");
    return { by: "early" };
  };
  const late = async () => {
    ran.push("late");
    answer.resolve();
    network.mend();
    await settled.promise;
    return { by: "late" };
  };
  const behindNetwork = { ...getRedisConnection("worker"), host: "127.0.0.1", port: network.port };
  const cutOff = await work({ charge: early }, { ...times, workspaces, connection: behindNetwork });
  const jobId = await add("charge", { order: "1" });
  await asked.promise;
  network.cut();
  await work({ charge: late }, times);
  await expect.poll(() => ran, { timeout: 10_000 }).toEqual(["late"]);
  await expect.poll(() => cutOff.isReady(), { timeout: 10_000 }).toBe(true);
  // Its claim was on its way when the network was mended, so it is over when the worker has stopped.
  await cutOff.stop(5_000);
  settled.resolve();
  const job = await ended(jobId);
  expect([job.returnvalue, ran]).toEqual([{ by: "late" }, ["late"]]);
  network.close();
});

test("a job that runs again after its replay takes its own earlier claim over, although its starts are counted anew", async () => {
  let starts = 0;
  const started = Promise.withResolvers<void>();
  const stubborn = async () => {
    starts += 1;
    if (starts < 3) throw new Error("not yet");
    started.resolve();
    // Its signal unheard, it may still be at it: the claim stands until its lease is over.
    return new Promise<never>(() => {});
  };
  const first = await work({ charge: stubborn });
  const jobId = await add("charge", { order: "2" }, { attempts: 3, retryIntervalsMs: [1] });
  await started.promise;
  await first.stop(1);
  const client = await raw.getBackend().client;
  await client.runCommand("hset", [raw.toKey(jobId), "ats", 0, replayFields.count, 1]);
  await work({ charge: async () => ({ by: "replayed" }) });
  const job = await ended(jobId);
  expect([job.returnvalue, job.attemptsStarted]).toEqual([{ by: "replayed" }, 1]);
});
