import type { RedisClock } from "@millrace/redis";
import type { RedisQueueBackend } from "bullmq";

// Where BullMQ puts the worker's time among the keys and arguments of a script.
const placeOfTime: ReadonlyMap<string, number> = new Map([
  ["moveToActive", 12],
  ["moveToFinished", 15],
  ["moveToDelayed", 12],
  ["retryJob", 12],
  ["moveStalledJobsToWait", 11],
]);

const justNowMs = 1_000;

/**
 * Lets a worker go by Redis' clock where its machine's is off. BullMQ dates by the worker's own clock which delayed job is due, how long a retry
 * waits, when a job began and ended, and which completed jobs are old enough to go: a worker that is a minute ahead would let everybody's
 * delayed jobs run a minute early. Locks need none of it: Redis itself ends them.
 *
 * Where the clock is right nothing is touched.
 */
export function goByRedisClock(backend: RedisQueueBackend, clock: RedisClock): void {
  const execCommand = backend.execCommand.bind(backend);
  const waitForJob = backend.waitForJob.bind(backend);

  backend.execCommand = (client, command, args) => {
    const place = placeOfTime.get(command);
    if (place === undefined) return execCommand(client, command, args);
    const correctionMs = clock.correctionMs();
    if (correctionMs === 0) return execCommand(client, command, args);
    const given: unknown = args[place];
    // In place: what BullMQ says of a job's end it reads there. Anything but the time of this moment is not what is meant here.
    if (typeof given === "number" && Math.abs(Date.now() - given) < justNowMs) args[place] = given + correctionMs;
    const reply = execCommand(client, command, args);
    return Promise.resolve(reply).then((fetched) => inLocalTime(fetched, correctionMs));
  };

  // The marker of the next delayed job, until which the loop waits by this machine's clock.
  backend.waitForJob = async (blockTimeout) => {
    const marker = await waitForJob(blockTimeout);
    return marker && marker.score > 0 ? { ...marker, score: marker.score - clock.correctionMs() } : marker;
  };
}

/** A reply is `[record, jobId, …, when the next delayed job is due]`. */
function inLocalTime(reply: unknown, correctionMs: number): unknown {
  if (!Array.isArray(reply) || !(Number(reply[3]) > 0)) return reply;
  return reply.with(3, Number(reply[3]) - correctionMs);
}
