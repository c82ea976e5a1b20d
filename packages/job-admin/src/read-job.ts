import { askQueue, contracts, isOfAnotherKind, type QueueName, readQueueEnv } from "@millrace/worker-config";
import { type JobStatus, jobEnvelopeSchema, replayFields, toIso } from "@millrace/worker-config/contracts";
import type { Queue } from "bullmq";
import { z } from "zod";
import { findJob } from "./find-job.ts";
import type { JobAttempt, JobDetails } from "./job-details.ts";
import { parseJobKey } from "./job-key.ts";
import { readFields } from "./read-fields.ts";
import { parseStored } from "./stored-json.ts";

const shown = { logLines: 100, lineCharacters: 2_000, attempts: 10, children: 100 };

/**
 * One job with all that its record says: attempts, times, logs, and its place in a flow. Nothing when the queue holds no such job. Of a
 * damaged or quarantined one that is what can still be read.
 *
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function readJob(queue: QueueName, jobId: string): Promise<JobDetails | undefined> {
  const status = await findJob(queue, jobId);
  if (!status) return undefined;
  const [record, logs, children] = await askQueue(contracts[queue], (opened) =>
    Promise.all([readRecord(opened, jobId), readLogs(opened, jobId), readChildren(opened, jobId)]),
  );
  const { stacks, starts, ...others } = record;
  const runnableAtMs = Math.max(Date.parse(status.createdAt) + record.delayMs, record.replayedAtMs);
  const waitMs = starts === 1 && status.startedAt ? Math.max(0, Date.parse(status.startedAt) - runnableAtMs) : null;
  const isMeasured = status.startedAt !== null && status.finishedAt !== null;
  return {
    ...status,
    queue,
    ...{ starts, waitMs, logs, children },
    attemptsAllowed: others.attemptsAllowed,
    attemptLog: toAttemptLog(status, stacks),
    runnableAt: toIso(runnableAtMs) ?? status.createdAt,
    runMs: isMeasured ? Math.max(0, Date.parse(status.finishedAt ?? "") - Date.parse(status.startedAt ?? "")) : null,
    priority: others.priority || null,
    replays: others.replays,
    lastReplayedAt: others.replayedAtMs > 0 ? toIso(others.replayedAtMs) : null,
    stack: stacks.at(-1) ?? null,
    meta: others.meta,
    parent: others.parent ?? null,
  };
}

const optionsSchema = z.object({ attempts: z.int().catch(1), delay: z.number().catch(0), priority: z.int().catch(0) });
const parentSchema = z.object({ id: z.string(), queueKey: z.string() });

async function readRecord(opened: Queue, jobId: string) {
  const { count, at } = replayFields;
  const fields = await readFields(opened, jobId, ["ats", "opts", "stacktrace", "parent", "data", count, at]);
  const options = optionsSchema.safeParse({ ...asObject(parseStored(fields.opts)) }).data;
  const parent = parentSchema.safeParse(parseStored(fields.parent)).data;
  return {
    starts: toNumber(fields.ats),
    stacks: z.array(z.string()).safeParse(parseStored(fields.stacktrace)).data ?? [],
    attemptsAllowed: options?.attempts ?? 1,
    delayMs: options?.delay ?? 0,
    priority: options?.priority ?? 0,
    replays: toNumber(fields[count]),
    replayedAtMs: toNumber(fields[at]),
    meta: jobEnvelopeSchema.safeParse(parseStored(fields.data)).data?.meta ?? {},
    parent: parent && parseJobKey(readQueueEnv().QUEUE_PREFIX, `${parent.queueKey}:${parent.id}`),
  };
}

async function readLogs(opened: Queue, jobId: string): Promise<JobDetails["logs"]> {
  const client = await opened.getBackend().client;
  const key = `${opened.toKey(jobId)}:logs`;
  const read = [client.runCommand("lrange", [key, -shown.logLines, -1]), client.runCommand("llen", [key])];
  const [lines, total] = await Promise.all(read).catch((error: unknown) => {
    if (isOfAnotherKind(error)) return [[], 0];
    throw error;
  });
  const texts = z.array(z.string()).parse(lines);
  return { lines: texts.map((line) => line.slice(0, shown.lineCharacters)), total: z.int().parse(total) };
}

const scanSchema = z.tuple([z.string(), z.array(z.string())]);

async function readChildren(opened: Queue, jobId: string): Promise<JobDetails["children"]> {
  const client = await opened.getBackend().client;
  const key = opened.toKey(jobId);
  const ask = (command: string, ...args: (string | number)[]) => client.runCommand(command, args);
  const [open, succeeded, ignored, unsuccessful, scanned, failed] = await Promise.all([
    ask("scard", `${key}:dependencies`),
    ask("hlen", `${key}:processed`),
    ask("hlen", `${key}:failed`),
    ask("zcard", `${key}:unsuccessful`),
    ask("sscan", `${key}:dependencies`, "0", "COUNT", shown.children),
    ask("zrange", `${key}:unsuccessful`, 0, shown.children - 1),
  ]);
  const counts = {
    open: z.int().parse(open),
    succeeded: z.int().parse(succeeded),
    failed: z.int().parse(ignored) + z.int().parse(unsuccessful),
  };
  if (counts.open + counts.succeeded + counts.failed === 0) return null;
  const { QUEUE_PREFIX } = readQueueEnv();
  const toJobs = (keys: readonly string[]) =>
    keys.slice(0, shown.children).flatMap((child) => parseJobKey(QUEUE_PREFIX, child) ?? []);
  return {
    ...counts,
    openJobs: toJobs(scanSchema.parse(scanned)[1]),
    failedJobs: toJobs(z.array(z.string()).parse(failed)),
  };
}

/** BullMQ keeps a stack trace per failure, the last ten; times and code it keeps of the last attempt alone. */
function toAttemptLog(status: JobStatus, stacks: readonly string[]): JobAttempt[] {
  const { attempts, startedAt, finishedAt } = status;
  const isWell = status.status === "success" || status.status === "skipped";
  const failures = isWell ? attempts - 1 : attempts;
  const isRunning = status.status === "running";
  const log: JobAttempt[] = [];
  for (let attempt = Math.max(1, attempts - shown.attempts + 1); attempt <= attempts; attempt++) {
    const isLast = attempt === attempts;
    const hasTimes = isLast && !isRunning;
    const hasFailed = attempt <= failures;
    log.push({
      attempt,
      outcome: isLast && finishedAt !== null ? endOf(status) : "retry",
      startedAt: hasTimes ? startedAt : null,
      endedAt: hasTimes ? finishedAt : null,
      code: attempt === failures ? (status.error?.code ?? null) : null,
      message: hasFailed ? (stacks[stacks.length - 1 - (failures - attempt)]?.split("\n")[0] ?? null) : null,
    });
  }
  if (!isRunning) return log;
  const current = { attempt: attempts + 1, startedAt, endedAt: null, code: null, message: null };
  return [...log, { ...current, outcome: "running" }];
}

function endOf({ status }: JobStatus): JobAttempt["outcome"] {
  return status === "pending" || status === "retrying" ? "retry" : status;
}

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

function toNumber(stored: string | null): number {
  const number = Number(stored ?? 0);
  return Number.isSafeInteger(number) && number >= 0 ? number : 0;
}
