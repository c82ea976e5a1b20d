import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { cleanUpRedis, outageOf, ownRedis } from "../test/own-redis.ts";
import { mail } from "../test/queues.ts";
import { closeQueues, emailContract, emailQueue, enqueue } from "./index.ts";

cleanUpRedis();

const send = (jobId?: string) => enqueue(emailContract, "sendEmail", mail, jobId === undefined ? {} : { jobId });

/** A port where a Redis was and is not any more. */
async function closedPort(): Promise<number> {
  const redis = await ownRedis();
  await redis.stop();
  return redis.port;
}

test("Redis that was never there: an enqueue is refused in time, and no job follows when it comes up", async () => {
  const port = await closedPort();
  for (const jobId of [undefined, "with-id"]) {
    const { error, tookMs } = await outageOf(send(jobId));
    expect(error.mayHaveHappened).toBe(false);
    expect(tookMs).toBeLessThan(2_000);
  }
  await ownRedis(port);
  expect(await send("later")).toEqual({ status: "created", jobId: "later" });
  // The connection answers in order: whatever was sent before is in the queue by now.
  expect((await emailQueue.getJobs()).map(({ id }) => id)).toEqual(["later"]);
});

test("Redis that takes the connection and says nothing: refused in time, and no job follows", async () => {
  const redis = await ownRedis();
  process.kill(redis.pid, "SIGSTOP");
  const { error, tookMs } = await outageOf(send("silent"));
  expect(error.mayHaveHappened).toBe(false);
  expect(tookMs).toBeLessThan(2_000);
  process.kill(redis.pid, "SIGCONT");
  expect((await send("later")).status).toBe("created");
  expect((await emailQueue.getJobs()).map(({ id }) => id)).toEqual(["later"]);
});

test("closing the queues is prompt where Redis never was, and they open again afterwards", async () => {
  const port = await closedPort();
  await outageOf(send());
  const startedAt = performance.now();
  await closeQueues();
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  await ownRedis(port);
  expect((await send()).status).toBe("created");
});

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => void close()));

/** A way to `port` that breaks off once, at the moment in which `isMoment` says so of what a client sends. */
async function breakingWay(port: number, isMoment: (sent: string) => boolean): Promise<number> {
  let isBroken = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const redis = connect(port, "127.0.0.1");
    for (const socket of [client, redis]) sockets.add(socket.on("error", () => {}));
    client.on("data", (sent) => {
      if (!isBroken && isMoment(sent.toString("latin1"))) {
        isBroken = true;
        client.resetAndDestroy();
        redis.destroy();
      } else redis.write(sent);
    });
    client.on("close", () => redis.destroy());
    redis.pipe(client);
  }).listen(0, "127.0.0.1");
  closing.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await once(server, "listening");
  // A server that listens on host and port has an address of this form.
  return (server.address() as AddressInfo).port;
}

test("a first contact that breaks off half way does not leave a queue that never works", async () => {
  const redis = await ownRedis();
  let greetings = 0;
  // The first INFO is the connection's own; the second one is BullMQ's, which asks for the version once and never again.
  const port = await breakingWay(redis.port, (sent) => /\binfo\b/i.test(sent) && ++greetings === 2);
  process.env.REDIS_URL = `redis://127.0.0.1:${port}`;
  await outageOf(send("first"));
  expect(greetings).toBe(2);
  expect((await send("second")).status).toBe("created");
});
