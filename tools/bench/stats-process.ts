import { readStats } from "@millrace/job-admin";
import { closeQueues, emailQueue } from "@millrace/worker-config";

const questions = 50;

/** Lets so many jobs wait, and asks again and again what `GET /jobs/stats` asks. */
async function timesWith(jobs: number): Promise<number[]> {
  const client = await emailQueue.getBackend().client;
  const waiting = emailQueue.toKey("wait");
  await client.runCommand("rpush", [waiting, ...Array.from({ length: jobs }, (_, index) => `many-${index}`)]);
  // The first one loads the scripts.
  await readStats();
  const times: number[] = [];
  while (times.length < questions) {
    const startedAt = performance.now();
    await readStats();
    times.push(performance.now() - startedAt);
  }
  await client.runCommand("del", [waiting]);
  return times;
}

const few = await timesWith(100);
const many = await timesWith(100_000);
await closeQueues();
process.send?.({ few, many });
process.disconnect?.();
