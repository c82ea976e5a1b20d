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
import { isSoundRecord } from "./sound-record.ts";
import { surfaceBroken } from "./surface-broken.ts";

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

const fetchingCommands = new Set(["moveToActive", "moveToFinished", "moveToDelayed"]);

const createScreenedBackend: BackendFactory<RedisQueueBackend> = (...parameters) => {
  const backend = createRedisBackend(...parameters);
  const execCommand = backend.execCommand.bind(backend);
  backend.execCommand = (client, command, args) => {
    const reply = execCommand(client, command, args);
    return fetchingCommands.has(command) ? Promise.resolve(reply).then(screenFetchedJob) : reply;
  };
  // In this order: what the first brings to light was fetched, and is not handed back.
  surfaceBroken(backend);
  handBackStranded(backend);
  return backend;
};

/** A fetching command's reply is `[record, jobId, …]`, the record as field, value, field, value. */
function screenFetchedJob(reply: unknown): unknown {
  if (!Array.isArray(reply) || !Array.isArray(reply[0])) return reply;
  const record: readonly unknown[] = reply[0];
  return isSoundRecord(record) ? reply : [[], ...reply.slice(1)];
}
