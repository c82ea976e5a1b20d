import type { RedisQueueBackend } from "bullmq";
import { type FetchedJob, findBroken } from "./find-broken.ts";
import { watchStranded } from "./watch-stranded.ts";

/**
 * Stands behind the four commands that fetch a job, so that none is left active for nobody: not one on whose record the command fails, and not
 * one whose reply was lost with the connection.
 */
export function guardFetches(backend: RedisQueueBackend): void {
  const stranded = watchStranded(backend);

  /** @param ended the job that the command is to end, or empty */
  function guard<Reply>(
    token: string,
    ended: string,
    reply: Promise<Reply>,
    replyWith: (broken: FetchedJob) => Reply,
  ): Promise<Reply> {
    const losses = stranded.losses();
    return reply.then(
      (fetched) => {
        if (losses === stranded.losses()) return fetched;
        return stranded.handBack(token, ended, fetchedBy(fetched)).then(() => fetched);
      },
      async (error: unknown) => {
        let broken: FetchedJob | undefined;
        try {
          broken = await findBroken(backend, error, token, ended);
          return replyWith(broken);
        } finally {
          if (losses !== stranded.losses()) await stranded.handBack(token, ended, broken?.[1] ?? "");
        }
      },
    );
  }

  const { moveToActive, moveToCompleted, moveToFailed, moveToDelayed } = backend;
  backend.moveToActive = (...args) => guard(args[0], "", moveToActive.apply(backend, args), asNext);
  backend.moveToCompleted = (job, value, keep, token, fetchNext) =>
    guard(token, job.id ?? "", moveToCompleted.call(backend, job, value, keep, token, fetchNext), asEnd);
  backend.moveToFailed = (job, reason, keep, token, fetchNext, fields) =>
    guard(token, job.id ?? "", moveToFailed.call(backend, job, reason, keep, token, fetchNext, fields), asEnd);
  backend.moveToDelayed = (jobId, timestamp, delay, token = "0", opts) =>
    guard(token, jobId, moveToDelayed.call(backend, jobId, timestamp, delay, token, opts), asNext);
}

const asNext = (broken: FetchedJob) => broken;
/** The answer of a finishing command, with the job that comes next. */
const asEnd = (broken: FetchedJob) => ({ result: broken, finishedOn: Date.now() });

/** A fetching command answers with `[record, jobId, …]`, by itself or as `result`; without a job, with zeros. */
function fetchedBy(reply: unknown): string {
  const fetched = typeof reply === "object" && reply !== null && "result" in reply ? reply.result : reply;
  return Array.isArray(fetched) ? String(fetched[1]) : "";
}
