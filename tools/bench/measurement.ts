/** What is compared: BullMQ as it is, and Millrace's host with more and more switched on. */
export const subjects = {
  raw: { host: false, action: "run", handlerMs: 0, logs: false },
  host: { host: true, action: "run", handlerMs: 0, logs: false },
  hostTraced: { host: true, action: "run", handlerMs: 0, logs: false, asksForTrace: true },
  hostLogging: { host: true, action: "run", handlerMs: 0, logs: true },
  hostIdempotent: { host: true, action: "keyed", handlerMs: 0, logs: false },
  raw5ms: { host: false, action: "run", handlerMs: 5, logs: false },
  hostLogging5ms: { host: true, action: "run", handlerMs: 5, logs: true },
  host5ms: { host: true, action: "keyed", handlerMs: 5, logs: true },
} as const satisfies Record<string, Subject>;

interface Subject {
  readonly host: boolean;
  readonly action: "run" | "keyed";
  readonly handlerMs: number;
  readonly logs: boolean;
  /** The handler reads its trace context, which is made for whoever asks. */
  readonly asksForTrace?: boolean;
}

export type SubjectName = keyof typeof subjects;

/** One turn of one subject. */
export interface Measurement {
  readonly jobsPerSecond: number;
  readonly cpuMicrosPerJob: number;
  readonly redisCommandsPerJob: number;
  /** From the add to the start of the handler, one job at a time on an idle worker, in milliseconds. */
  readonly medianLatencyMs: number;
}
