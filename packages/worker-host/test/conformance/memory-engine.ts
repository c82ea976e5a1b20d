import { afterEach } from "vitest";
import { hosted, type MemoryHost, startMemoryHost } from "../../src/memory/index.ts";
import { silent } from "../use-queue.ts";
import { contract, type Engine, idle } from "./engine.ts";

/** A host in this process, in real time. */
export function useMemoryEngine(): Engine {
  let started: MemoryHost | undefined;
  const host = () => {
    if (!started) throw new Error("start the host first: it is its own Redis");
    return started;
  };

  afterEach(async () => {
    await started?.stop(0);
    started = undefined;
  });

  return {
    name: "memory",
    start: async (handlers, { contract: hostedContract = contract, ...settings } = {}) => {
      started = startMemoryHost([hosted(hostedContract, { ...idle, ...handlers })], {
        concurrency: 5,
        log: silent,
        ...settings,
      });
    },
    enqueue: (...job) => host().enqueue(...job),
    findJob: async (jobId) => host().findJob("default", jobId),
    readNotes: async (jobId) => host().readNotes("default", jobId),
    cancelJob: async (jobId) => host().cancelJob("default", jobId),
    replayDeadLetter: async (jobId) => host().replayDeadLetter("default", jobId),
    stop: async (graceMs) => {
      await host().stop(graceMs);
    },
  };
}
