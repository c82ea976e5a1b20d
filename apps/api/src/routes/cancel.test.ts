import { emailQueue, getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import { FlowProducer, Worker } from "bullmq";
import { afterEach, expect, test } from "vitest";
import { bearer, expectProblem, mail, useTestApp } from "../../test/test-app.ts";

const app = useTestApp();

afterEach(() => emailQueue.obliterate({ force: true }));
async function enqueue(): Promise<string> {
  const response = await app().inject({
    method: "POST",
    url: "/jobs/email/sendEmail",
    headers: bearer,
    payload: { data: mail },
  });
  return response.json().jobId;
}

function cancel(jobId: string, queue = "email") {
  return app().inject({ method: "POST", url: `/jobs/${queue}/${jobId}/cancel`, headers: bearer });
}

const noChildren = { cancelled: 0, cancelling: 0, finished: 0, left: 0 };
const alone = { queue: "email", children: noChildren, parent: null };

test("a waiting job is cancelled and says so", async () => {
  const jobId = await enqueue();
  const response = await cancel(jobId);
  expect([response.statusCode, response.json()]).toEqual([200, { ...alone, jobId, status: "cancelled" }]);
  const read = await app().inject({ url: `/jobs/email/${jobId}`, headers: bearer });
  expect(read.json()).toMatchObject({ status: "cancelled", error: { code: "cancelled" } });
});

test("a running job is being cancelled, one that has ended is a conflict", async () => {
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const completed = Promise.withResolvers<void>();
  const worker = new Worker(
    "email",
    async () => {
      started.resolve();
      await finish.promise;
    },
    { connection: getRedisConnection("worker"), prefix: readQueueEnv().QUEUE_PREFIX },
  );
  worker.on("completed", () => completed.resolve());
  const jobId = await enqueue();
  await started.promise;
  const response = await cancel(jobId);
  expect([response.statusCode, response.json()]).toEqual([202, { ...alone, jobId, status: "cancelling" }]);
  finish.resolve();
  await completed.promise;
  expectProblem(await cancel(jobId), 409, "already_finished");
  await worker.close();
});

test("in a flow the answer says what became of the children, and what the parent does", async () => {
  const flows = new FlowProducer({ connection: getRedisConnection("worker"), prefix: readQueueEnv().QUEUE_PREFIX });
  const node = (jobId: string) => ({ name: "sendEmail", queueName: "email", opts: { jobId } });
  await flows.add({
    ...node("top"),
    children: [{ ...node("middle"), children: [node("one"), node("other")] }],
  });
  await flows.close();
  expect((await cancel("middle")).json()).toEqual({
    jobId: "middle",
    queue: "email",
    status: "cancelled",
    children: { ...noChildren, cancelled: 2 },
    parent: { queue: "email", jobId: "top", effect: "fails" },
  });
});

test("an unknown job, an unknown queue, and a caller without a key get no further", async () => {
  expectProblem(await cancel("never-was"), 404, "unknown_job");
  expectProblem(await cancel("1", "emial"), 404, "unknown_queue");
  expectProblem(await app().inject({ method: "POST", url: "/jobs/email/1/cancel" }), 401, "unauthorized");
});
