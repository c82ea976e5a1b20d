import { type EnqueueOptions, type JobData, makeJobId } from "@millrace/worker-config";
import type { chaosContract } from "./contract.ts";
import { createRandom, type Random } from "./random.ts";

export type ChaosJob = JobData<typeof chaosContract>;

export interface PlannedJob {
  readonly jobId: string;
  readonly job: ChaosJob;
  readonly options: EnqueueOptions;
  /** When it is enqueued, in milliseconds from the start. */
  readonly dueMs: number;
  /** Somebody calls it off so long after it was acknowledged, in milliseconds. */
  readonly cancelAfterMs?: number;
}

const mix = { plain: 44, flaky: 15, charge: 20, throttled: 8, refused: 5, slow: 1, cancelled: 7 };
const jobsPerPayment = 4;

/** The jobs of a run, spread over its time. */
export function planJobs(seed: number, jobs: number, seconds: number): PlannedJob[] {
  const random = createRandom(seed);
  let charges = 0;
  return Array.from({ length: jobs }, (_, index) => {
    const kind = random.pick(mix);
    // Neighbours share a payment, so that they meet while it is being taken.
    if (kind === "charge") charges += 1;
    return {
      jobId: makeJobId(kind, index),
      dueMs: Math.floor((index / jobs) * seconds * 1_000),
      ...planJob(kind, Math.ceil(charges / jobsPerPayment), random),
    };
  });
}

function planJob(
  kind: keyof typeof mix,
  payment: number,
  random: Random,
): Pick<PlannedJob, "job" | "options" | "cancelAfterMs"> {
  switch (kind) {
    case "plain":
    case "refused":
    case "throttled":
      return { job: { type: kind, data: {} }, options: {} };
    case "flaky":
      return {
        job: { type: "flaky", data: { failures: random.between(1, 3) } },
        options: { attempts: 5, retryIntervalsMs: [50] },
      };
    case "charge":
      return { job: { type: "charge", data: { payment: `payment-${payment}` } }, options: {} };
    case "slow":
      return { job: { type: "slow", data: { takesMs: random.between(500, 3_500) } }, options: {} };
    case "cancelled":
      return planCancelled(random);
  }
}

/** Called off while it waits for its time, at once, or in the middle of its work. */
function planCancelled(random: Random): Pick<PlannedJob, "job" | "options" | "cancelAfterMs"> {
  switch (random.pick({ delayed: 50, waiting: 35, running: 15 })) {
    case "delayed":
      return {
        job: { type: "plain", data: {} },
        options: { delayMs: 4_000 },
        cancelAfterMs: random.between(0, 1_000),
      };
    case "waiting":
      return { job: { type: "plain", data: {} }, options: {}, cancelAfterMs: 0 };
    case "running":
      return {
        job: { type: "slow", data: { takesMs: 3_000 } },
        options: {},
        cancelAfterMs: random.between(300, 1_500),
      };
  }
}
