import { randomUUID } from "node:crypto";
import type { RedisClock } from "@millrace/redis";
import { type BulkJobOptions, Job, type JobsOptions, Queue, type QueueOptions, RedisConnection } from "bullmq";
import type { QueueContract } from "../contracts/define-queue.ts";
import type { JobEnvelope } from "../contracts/job-envelope.ts";
import { type SearchEntry, searchEntriesOf } from "../contracts/searchable.ts";
import { checkJobsOptions } from "../jobs/check-jobs-options.ts";
import { type CheckedPayload, checkPayload } from "../jobs/check-payload.ts";
import { actionJobOptions } from "../jobs/prepare-enqueue.ts";
import { createIndexWriter, indexScript } from "../jobs/search-index.ts";
import { type Ask, createAsk } from "./ask-in-time.ts";
import { isScriptLost } from "./redis-errors.ts";
import { teachScript } from "./run-script.ts";

type EnvelopeJob = Job<JobEnvelope, unknown, string>;

/**
 * BullMQ's own queue, with two promises more: nothing gets in that its contract does not allow, and no call outlives its deadline.
 *
 * BullMQ alone waits for ever when Redis was down at the moment the queue was built, and later not at all. So an add first waits for a ready connection,
 * within the deadline, and only then sends its command: a caller that was told that nothing was added can be sure that no job follows.
 */
export class ProducerQueue extends Queue<JobEnvelope, unknown, string, JobEnvelope, unknown, string> {
  readonly #contract: QueueContract;
  readonly #clock: RedisClock;
  readonly #maxPayloadBytes: number;
  readonly #duplicates = new WeakSet<EnvelopeJob>();
  readonly #indexArgs = createIndexWriter();
  /** Puts a question to Redis that does not outlive the deadline. */
  readonly ask: Ask;

  constructor(
    contract: QueueContract,
    clock: RedisClock,
    limits: { maxPayloadBytes: number; deadlineMs: number },
    options: QueueOptions,
  ) {
    super(contract.name, options);
    this.#contract = contract;
    this.#clock = clock;
    this.#maxPayloadBytes = limits.maxPayloadBytes;
    this.ask = createAsk(contract.name, limits.deadlineMs, async () => {
      await this.waitUntilReady();
      // That wait is over for good after the first time; this one begins again when the connection was lost.
      await RedisConnection.waitUntilReady(await this.getBackend().client);
      // For half a second at most: the first job over a new connection is dated rightly too.
      await clock.settled();
    });
    // The connection is shared and reports its outages itself; without a listener every queue would print them again.
    this.on("error", () => {});
  }

  /** Whether the add that returned `job` found its id taken, so that what is stored is another job than the one returned. */
  isDuplicate(job: EnvelopeJob): boolean {
    return this.#duplicates.has(job);
  }

  protected override async addJob(name: string, data: JobEnvelope, given: JobsOptions = {}): Promise<EnvelopeJob> {
    const { stored, parsed } = this.#check(name, data, given);
    const merged = { ...actionJobOptions(this.#contract, name), ...given };
    const action = this.#contract.actions[name];
    const entries = action ? searchEntriesOf(action, parsed) : [];
    return this.ask(() => {
      const options = this.#dated(merged);
      const { jobId, deduplication } = options;
      if (jobId !== undefined) return this.#addWithId(name, stored, { ...options, jobId }, entries);
      if (entries.length === 0) return super.addJob(name, stored, options);
      return deduplication
        ? this.#addWithId(name, stored, { ...options, jobId: randomUUID() }, entries)
        : this.#addFound(name, stored, options, entries);
    }, "job");
  }

  /**
   * `add` for a job that is to run no earlier than at a moment of Redis' clock: how long that is from now is known once there is a connection.
   *
   * @param runAtMs since 1970
   */
  async addAt(runAtMs: number, name: string, data: JobEnvelope, options: JobsOptions): Promise<EnvelopeJob> {
    // Refused before Redis is asked for, as any other.
    this.#check(name, data, options);
    const delayFromNow = () => Math.max(0, runAtMs - this.#clock.now());
    return this.ask(() => this.add(name, data, { ...options, delay: delayFromNow() }), "job");
  }

  /** A job's due time and its age are counted from its timestamp, which BullMQ takes from this machine's clock. */
  #dated<Options extends JobsOptions>(options: Options): Options {
    if (options.timestamp !== undefined || this.#clock.correctionMs() === 0) return options;
    return { ...options, timestamp: this.#clock.now() };
  }

  /** A job that is to be found, under a new id, which nobody can have taken: so it needs no transaction, which costs five commands. */
  async #addFound(
    name: string,
    data: JobEnvelope,
    given: JobsOptions,
    entries: readonly SearchEntry[],
  ): Promise<EnvelopeJob> {
    const options = { ...given, jobId: randomUUID(), timestamp: given.timestamp ?? Date.now() };
    const client = await this.getBackend().client;
    // Ahead of its job, over the same connection. An entry that no job follows is forgotten at the next look; a job that could not be indexed
    // is a job all the same.
    teachScript(client, indexScript);
    client.runCommand(indexScript.name, this.#indexCommand(options, entries, false)).catch(() => {});
    return super.addJob(name, data, options);
  }

  #indexCommand(
    { jobId, timestamp, delay = 0 }: { readonly jobId: string; readonly timestamp: number; readonly delay?: number },
    entries: readonly SearchEntry[],
    mayExist: boolean,
  ): (string | number)[] {
    const queue = { prefix: this.opts.prefix ?? "", queue: this.name, jobKey: this.toKey(jobId) };
    return this.#indexArgs({ ...queue, jobId, createdAtMs: timestamp, delayMs: delay, mayExist }, entries);
  }

  override async addBulk(jobs: { name: string; data: JobEnvelope; opts?: BulkJobOptions }[]): Promise<EnvelopeJob[]> {
    const complete = jobs.map(({ name, data, opts = {} }) => {
      const { stored, parsed } = this.#check(name, data, opts);
      const action = this.#contract.actions[name];
      const entries = action ? searchEntriesOf(action, parsed) : [];
      return { name, data: stored, opts: { ...actionJobOptions(this.#contract, name), ...opts }, entries };
    });
    const added = await this.ask(async () => {
      const client = await this.getBackend().client;
      teachScript(client, indexScript);
      const named = new Set<string>();
      const dated = complete.map(({ name, data, opts: merged, entries }) => {
        const opts = this.#dated(merged);
        // The first of an id is the one that is stored.
        const isFirst = opts.jobId === undefined || !named.has(opts.jobId);
        if (opts.jobId !== undefined) named.add(opts.jobId);
        if (entries.length === 0 || !isFirst) return { name, data, opts };
        // An entry names its job before that is there. Over the same connection, and not waited for, as with a single one.
        const found = { ...opts, jobId: opts.jobId ?? randomUUID(), timestamp: opts.timestamp ?? Date.now() };
        const command = this.#indexCommand(found, entries, opts.jobId !== undefined);
        client.runCommand(indexScript.name, command).catch(() => {});
        return { name, data, opts: found };
      });
      return super.addBulk(dated);
    }, "jobs");
    // BullMQ's scripts answer with the number of an error, which in a bulk becomes the job's id.
    const orphans = added.filter(({ id }: { id?: unknown }) => typeof id === "number");
    if (orphans.length === 0) return added;
    throw new Error(
      `Queue ${this.name}: ${orphans.length} of ${added.length} jobs were not added, the others were: their parent ${orphans[0]?.parentKey} does not exist.`,
    );
  }

  /** BullMQ drops an add whose id exists and says nothing, so the same transaction asks whether it did. */
  async #addWithId(
    name: string,
    data: JobEnvelope,
    options: JobsOptions & { jobId: string },
    entries: readonly SearchEntry[],
  ): Promise<EnvelopeJob> {
    const { jobId } = options;
    const job: EnvelopeJob = new Job(this, name, data, { ...this.defaultJobOptions, ...options }, jobId);
    const client = await this.getBackend().client;
    teachScript(client, indexScript);
    const transaction = client.multi();
    transaction.runCommand("exists", [this.toKey(jobId)]);
    const indexed = { jobId, timestamp: job.timestamp, delay: options.delay ?? 0 };
    if (entries.length > 0) transaction.runCommand(indexScript.name, this.#indexCommand(indexed, entries, true));
    const { parentKey } = job;
    await job.addJob(transaction, parentKey ? { parentKey, parentDependenciesKey: `${parentKey}:dependencies` } : {});
    const replies = (await transaction.exec()) ?? [];
    const [exists, added] = [replies[0], replies.at(-1)];
    const isTaken = exists?.[1] === 1;
    // Redis can have lost its scripts, and a transaction cannot bring them back. Outside of one they come with the next use.
    if (entries.length > 0 && !isTaken && isScriptLost(replies[1]?.[0])) {
      client.runCommand(indexScript.name, this.#indexCommand(indexed, entries, false)).catch(() => {});
    }
    // A job that could not be indexed is a job all the same.
    const failure = exists?.[0] ?? added?.[0];
    if (isScriptLost(failure)) {
      // As its entry names it.
      const again = await super.addJob(name, data, { ...options, timestamp: job.timestamp });
      if (isTaken || again.id !== jobId) this.#duplicates.add(again);
      return again;
    }
    if (failure) throw failure;
    const reply = added?.[1];
    // In a transaction BullMQ's scripts can answer with the number of an error alone.
    if (Number(reply) < 0)
      throw new Error(`Queue ${this.name}: no job was added, its parent ${parentKey} does not exist.`);
    const storedId = String(reply);
    // Another id than ours comes back where a deduplication key led to another job.
    if (isTaken || storedId !== jobId) this.#duplicates.add(job);
    job.id = storedId;
    this.emit("waiting", job);
    return job;
  }

  #check(name: string, data: JobEnvelope, options: JobsOptions): CheckedPayload {
    checkJobsOptions(options);
    return checkPayload(this.#contract, name, data, this.#maxPayloadBytes);
  }
}
