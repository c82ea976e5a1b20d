import {
  type BackendFactory,
  createRedisBackend,
  type Job,
  type JobJson,
  type Processor,
  type RedisQueueBackend,
  Worker,
  type WorkerOptions,
} from "bullmq";
import { handBackStranded } from "./hand-back-stranded.ts";

/** A job whose record nobody can read has no name, which no sound job lacks. */
export function isUnreadable(job: { readonly name: string | undefined }): boolean {
  return !job.name;
}

/**
 * BullMQ's worker, with one thing more: a record that is broken, or gone, still becomes a job – one without a name, to be quarantined.
 *
 * BullMQ alone throws on broken JSON after the job was made active, so that it stalls, is made active, and throws again, for ever; and
 * when the broken one came along with another job's completion, that job's end is reported as a failure.
 */
export class ScreenedWorker extends Worker<unknown, unknown, string> {
  /** Jobs that were fetched, and of which Redis has not recorded yet what became of them. */
  jobsInHand = 0;

  constructor(name: string, processor: Processor<unknown, unknown, string>, options: WorkerOptions) {
    super(name, processor, options, createScreenedBackend);
  }

  override async processJob(...parameters: Parameters<Worker["processJob"]>): ReturnType<Worker["processJob"]> {
    this.jobsInHand += 1;
    try {
      return await super.processJob(...parameters);
    } finally {
      this.jobsInHand -= 1;
    }
  }

  protected override createJob(record: JobJson, jobId: string): Job<unknown, unknown, string> {
    try {
      return super.createJob(record, jobId);
    } catch {
      return super.createJob({ ...record, data: "{}", name: "" }, jobId);
    }
  }
}

/**
 * What a fetched job's record must hold where it holds it at all. BullMQ parses the first three before `createJob`, and its scripts fail
 * halfway through a job's end where a link is no link or a count is no count: the job would be in no list any more. `data` comes later, and
 * is large.
 */
const soundFields: Readonly<Record<string, (stored: string) => boolean>> = {
  opts: isJsonObject,
  parent: isJsonObject,
  progress: isJson,
  atm: (stored) => Number.isSafeInteger(Number(stored)) && stored !== "",
};
const fetchingCommands = new Set(["moveToActive", "moveToFinished", "moveToDelayed"]);

const createScreenedBackend: BackendFactory<RedisQueueBackend> = (...parameters) => {
  const backend = createRedisBackend(...parameters);
  const execCommand = backend.execCommand.bind(backend);
  backend.execCommand = (client, command, args) => {
    const reply = execCommand(client, command, args);
    return fetchingCommands.has(command) ? Promise.resolve(reply).then(screenFetchedJob) : reply;
  };
  handBackStranded(backend);
  return backend;
};

/** A fetching command's reply is `[record, jobId, …]`, the record as field, value, field, value. */
function screenFetchedJob(reply: unknown): unknown {
  if (!Array.isArray(reply) || !Array.isArray(reply[0])) return reply;
  const record: unknown[] = reply[0];
  const isSound = record.every((field, index) => index % 2 === 1 || isSoundField(field, record[index + 1]));
  return isSound ? reply : [[], ...reply.slice(1)];
}

function isSoundField(field: unknown, value: unknown): boolean {
  if (typeof field !== "string" || typeof value !== "string" || !Object.hasOwn(soundFields, field)) return true;
  return soundFields[field]?.(value) ?? true;
}

function isJson(stored: string): boolean {
  return parse(stored) !== undefined;
}

function isJsonObject(stored: string): boolean {
  const value = parse(stored);
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parse(stored: string): unknown {
  try {
    return JSON.parse(stored);
  } catch {
    return undefined;
  }
}
