import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { inspect } from "node:util";
import { Queue } from "bullmq";
import { expect, test } from "vitest";
import { mail, mailJob, useFreshQueues } from "../../test/queues.ts";
import * as all from "../index.ts";
import { closeQueues, contracts, emailContract, emailQueue, enqueue, queueNames, queues } from "../index.ts";

useFreshQueues();

/** Counts the connections to Redis that this process opens while `during` runs. */
async function connectionsOf(during: () => unknown): Promise<number> {
  const opened: Socket[] = [];
  // Node's documentation of the channel gives the message this form.
  const keep = (message: unknown) => opened.push((message as { socket: Socket }).socket);
  subscribe("net.client.socket", keep);
  try {
    await during();
  } finally {
    unsubscribe("net.client.socket", keep);
  }
  const port = Number(new URL(process.env.REDIS_URL ?? "").port);
  return opened.filter(({ remotePort }) => remotePort === port).length;
}

test("there is a contract and a queue under every name, each knows its name, and no more than those", () => {
  expect(Object.keys(contracts)).toEqual(queueNames.options);
  expect(Object.keys(queues)).toEqual(queueNames.options);
  for (const name of queueNames.options) {
    expect(contracts[name].name).toBe(name);
    expect(queues[name].name).toBe(name);
    // Each is exported by its own name too, and is the same object.
    expect(Object.entries(all)).toContainEqual([`${name}Queue`, queues[name]]);
  }
});

test("a queue counts as BullMQ's own, for a dashboard that asks", () => {
  expect(emailQueue).toBeInstanceOf(Queue);
});

test("looking at a queue, printing it, awaiting it and closing it open nothing", async () => {
  const { REDIS_URL } = process.env;
  // Without it, opening a queue throws where it happens.
  delete process.env.REDIS_URL;
  try {
    expect(emailQueue.name).toBe("email");
    expect(Object.prototype.toString.call(emailQueue)).toBe("[object Object]");
    expect(inspect(emailQueue)).toContain("Queue");
    expect(emailQueue instanceof Queue).toBe(true);
    expect((await emailQueue).name).toBe("email");
    await emailQueue.close();
    await closeQueues();
    expect(() => emailQueue.opts).toThrow(/REDIS_URL is not set/);
  } finally {
    process.env.REDIS_URL = REDIS_URL;
  }
});

test("a thousand enqueues into several queues use the one connection that the first one opened", async () => {
  const opened = await connectionsOf(async () => {
    await Promise.all(Object.values(queues).map((queue) => queue.count()));
    for (let round = 0; round < 40; round += 1) {
      await Promise.all(Array.from({ length: 25 }, () => enqueue(emailContract, "sendEmail", mail)));
    }
  });
  expect(opened).toBe(1);
  expect(await emailQueue.count()).toBe(1_000);
});

test("closing the queues closes the connection, and a queue used afterwards opens again", async () => {
  await enqueue(emailContract, "sendEmail", mail, { jobId: "before" });
  const client = await emailQueue.getBackend().client;
  const ended = new Promise((resolve) => client.once("end", resolve));
  await closeQueues();
  await ended;
  const opened = await connectionsOf(async () => {
    expect((await enqueue(emailContract, "sendEmail", mail, { jobId: "before" })).status).toBe("duplicate");
    expect((await emailQueue.add("sendEmail", mailJob)).id).toBeDefined();
  });
  expect(opened).toBe(1);
});

test("closing one queue leaves the others and itself usable: the connection is shared", async () => {
  await emailQueue.add("sendEmail", mailJob);
  await emailQueue.close();
  expect((await enqueue(emailContract, "sendEmail", mail)).status).toBe("created");
  expect(await queues.webhook.count()).toBe(0);
  expect(await emailQueue.count()).toBe(2);
});

test("closing twice, or with nothing open, does nothing", async () => {
  await closeQueues();
  await emailQueue.count();
  await Promise.all([closeQueues(), closeQueues()]);
});

test("a listener put on the queue hears it: both ways lead to one object", async () => {
  const heard: unknown[] = [];
  emailQueue.on("waiting", (job) => heard.push(job.id));
  const { jobId } = await enqueue(emailContract, "sendEmail", mail);
  const { id } = await emailQueue.add("sendEmail", mailJob);
  expect(heard).toEqual([jobId, id]);
});
