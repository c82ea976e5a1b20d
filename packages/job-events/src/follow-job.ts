import { QueueUnavailableError } from "@millrace/worker-config";
import type { JobStatus, QueueName } from "@millrace/worker-config/contracts";
import { createBell } from "./bell.ts";
import { eventStreamKey } from "./create-job-event-writer.ts";
import { countMissing } from "./event-id.ts";
import type { JobNews } from "./job-news.ts";
import { hasEnded, type JobSource, recordSource } from "./job-source.ts";
import { pageSize, readEvents } from "./read-events.ts";

export interface FollowOptions {
  /** The last event that was seen: those after it come. Defaults to all that are kept. */
  readonly after?: string | undefined;
  readonly signal: AbortSignal;
}

/** See `JobEventFeed.follow`. */
export async function* followJob(
  { wakeUps, prefix, findJob, pollMs }: JobSource,
  queue: QueueName,
  jobId: string,
  { after, signal }: FollowOptions,
): AsyncGenerator<JobNews, void> {
  const stream = eventStreamKey(prefix, queue, jobId);
  const bell = createBell();
  const stops: (() => void)[] = [];
  let isRecordNew = true;
  let readAt = 0;
  let toldAt = performance.now();
  let told: string | undefined;
  let position = after;

  /** The job's record, or null where it is gone. Nothing where there is no reason to read it. */
  async function readRecord(): Promise<JobStatus | null | undefined> {
    if (!isRecordNew && performance.now() - readAt < pollMs) return undefined;
    // Before the question: what happens meanwhile is a reason to ask again.
    isRecordNew = false;
    readAt = performance.now();
    return (await findJob(queue, jobId)) ?? null;
  }

  async function* tellEvents(): AsyncGenerator<JobNews, void> {
    for (;;) {
      const page = await readEvents(queue, stream, position);
      for (const event of page) {
        const missed = countMissing(position, event.id);
        position = event.id;
        if (missed !== 0) yield { kind: "gap", missed };
        yield { kind: "event", ...event };
      }
      if (page.length < pageSize) return;
    }
  }

  /** All that is new. Returns whether that was the end. */
  async function* tellNews(): AsyncGenerator<JobNews, boolean> {
    // The record before the events: those of a job that has ended are then all there.
    const job = await readRecord();
    const isEnd = job === null || (job !== undefined && hasEnded(job));
    const text = JSON.stringify(job);
    if (job && text !== told && !(isEnd && told !== undefined)) {
      told = text;
      yield { kind: "status", job };
    }
    yield* tellEvents();
    if (isEnd) yield { kind: "end", job };
    return isEnd;
  }

  signal.addEventListener("abort", bell.ring);
  try {
    const wakeForRecord = () => {
      isRecordNew = true;
      bell.ring();
    };
    stops.push(await wakeUps.watch(recordSource(prefix, queue, jobId), wakeForRecord));
    stops.push(await wakeUps.watch({ queue, stream }, bell.ring));
    while (!signal.aborted) {
      try {
        const news = tellNews();
        for (let next = await news.next(); ; next = await news.next()) {
          if (next.done && next.value) return;
          if (next.done) break;
          yield next.value;
          toldAt = performance.now();
        }
      } catch (error) {
        // An outage ends by itself; only at the beginning there is somebody to tell.
        if (told === undefined || !(error instanceof QueueUnavailableError)) throw error;
        isRecordNew = true;
      }
      if (performance.now() - toldAt >= pollMs) {
        yield { kind: "idle" };
        toldAt = performance.now();
      }
      // One is due by the last word, the other by the last look: what woke it in between is a reason for neither to come late.
      await bell.sleep(Math.max(0, Math.ceil(Math.min(toldAt, readAt) + pollMs - performance.now())));
    }
  } finally {
    signal.removeEventListener("abort", bell.ring);
    for (const stop of stops) stop();
  }
}
