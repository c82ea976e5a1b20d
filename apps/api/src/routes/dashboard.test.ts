import {
  emailContract,
  emailQueue,
  enqueue,
  getRedisConnection,
  queueNames,
  readQueueEnv,
} from "@millrace/worker-config";
import { type FlowJob, FlowProducer } from "bullmq";
import type { InjectOptions } from "fastify";
import { describe, expect, test } from "vitest";
import { basic, expectProblem, listRoutes, mail, useTestApp } from "../../test/test-app.ts";

const app = useTestApp();

describe("the dashboard", () => {
  test("is a page, with its scripts and styles", async () => {
    const page = await app().inject({ url: "/admin/queues", headers: basic });
    expect(page.statusCode).toBe(200);
    expect(page.headers["content-type"]).toContain("text/html");
    expect(page.body).toContain("<title>Millrace</title>");
    const own = [...page.body.matchAll(/(?:src|href)="(static\/[^"]+\.(?:js|css))"/g)].map(([, path]) => path);
    expect(own.length).toBeGreaterThan(1);
    for (const path of own) {
      expect((await app().inject({ url: `/admin/queues/${path}`, headers: basic })).statusCode).toBe(200);
    }
  });

  test("may load nothing from another host, whatever its page asks for", async () => {
    const page = await app().inject({ url: "/admin/queues", headers: basic });
    expect(page.body).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    const policy = String(page.headers["content-security-policy"]);
    expect(policy).toMatch(/^default-src 'self';/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
  });

  test("lists every queue, read only", async () => {
    const { queues } = (await app().inject({ url: "/admin/queues/api/queues", headers: basic })).json();
    const names: string[] = queues.map((queue: { name: string }) => queue.name);
    expect(names.toSorted()).toEqual(queueNames.options.toSorted());
    for (const queue of queues) expect(queue).toMatchObject({ readOnlyMode: true, allowRetries: false });
  });

  test("shows a job", async () => {
    const { jobId } = await enqueue(emailContract, "sendEmail", mail);
    const response = await app().inject({ url: `/admin/queues/api/queues/email/${jobId}`, headers: basic });
    expect(response.json()).toMatchObject({ job: { id: jobId, name: "sendEmail" } });
  });

  test("shows a damaged record as such, and the jobs beside it", async () => {
    const { jobId } = await enqueue(emailContract, "sendEmail", mail);
    const { jobId: damaged } = await enqueue(emailContract, "sendEmail", mail);
    const { jobId: noHash } = await enqueue(emailContract, "sendEmail", mail);
    const client = await emailQueue.getBackend().client;
    await client.hset(emailQueue.toKey(damaged), { data: "{bad MARKER" });
    await client.runCommand("set", [emailQueue.toKey(noHash), "MARKER"]);
    const listUrl = "/admin/queues/api/queues?activeQueue=email&status=waiting";
    const list = await app().inject({ url: listUrl, headers: basic });
    expect(list.statusCode).toBe(200);
    const email = list.json().queues.find(({ name }: { name: string }) => name === "email");
    expect(email.jobs).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: jobId, name: "sendEmail" }),
        expect.objectContaining({ id: noHash, name: expect.stringContaining("damaged record"), isFailed: true }),
        expect.objectContaining({ id: damaged, failedReason: expect.stringContaining("data"), data: {} }),
      ]),
    );
    const single = await app().inject({ url: `/admin/queues/api/queues/email/${damaged}`, headers: basic });
    expect(single.json()).toMatchObject({
      job: { id: damaged, name: "damaged record of sendEmail" },
      status: "waiting",
    });
    for (const id of [jobId, damaged, noHash]) await emailQueue.remove(id).catch(() => {});
    await client.del(emailQueue.toKey(noHash));
  });

  test("shows a flow with what can be read of it, whichever of its records is damaged", async () => {
    const flows = new FlowProducer({ connection: getRedisConnection("worker"), prefix: readQueueEnv().QUEUE_PREFIX });
    const job = (jobId: string, children: FlowJob[] = []): FlowJob => {
      const data = { type: "sendEmail", data: mail };
      return { name: "sendEmail", queueName: "email", data, opts: { jobId }, children };
    };
    await flows.add(job("root", [job("middle", [job("leaf")]), job("torn"), job("well")]));
    await flows.close();
    const client = await emailQueue.getBackend().client;
    await client.hset(emailQueue.toKey("middle"), { data: "{bad MARKER" });
    await client.del(emailQueue.toKey("torn"));
    await client.runCommand("set", [emailQueue.toKey("torn"), "MARKER"]);
    const ask = () => app().inject({ url: "/admin/queues/api/queues/email/well/flow", headers: basic });
    const node = (id: string, name: unknown, ...children: unknown[]) =>
      expect.objectContaining({ id, name, children: expect.arrayContaining(children) });
    const below = [
      node("middle", "damaged record of sendEmail", node("leaf", "sendEmail")),
      node("torn", expect.stringContaining("damaged record")),
      node("well", "sendEmail"),
    ];
    const answer = await ask();
    expect(answer.json()).toEqual({ nodeId: "well", isFlowNode: true, flowRoot: node("root", "sendEmail", ...below) });
    await client.hset(emailQueue.toKey("root"), { opts: "{bad MARKER" });
    const damaged = await ask();
    expect(damaged.json().flowRoot).toEqual(node("root", "damaged record of sendEmail", ...below));
    expect(damaged.body).not.toContain("MARKER");
    await client.del(emailQueue.toKey("torn"));
    await emailQueue.obliterate({ force: true });
  });

  test("changes nothing: each of its routes that would is refused", async () => {
    const { jobId } = await enqueue(emailContract, "sendEmail", mail, { delayMs: 60_000 });
    const writing = listRoutes(app()).filter(
      ({ method, url }) => url.startsWith("/admin/queues/") && method !== "GET" && method !== "HEAD",
    );
    expect(writing.length).toBeGreaterThan(10);
    for (const { method, url } of writing) {
      const named = url.replace("/queues/x", "/queues/email").replace("/email/x/", `/email/${jobId}/`);
      // What the router lists is what it takes; the type of inject knows the usual methods only.
      const asked = { method: method as NonNullable<InjectOptions["method"]>, url: named, headers: basic, payload: {} };
      expectProblem(await app().inject(asked), 405, "read_only");
    }
    expect(await emailQueue.isPaused()).toBe(false);
    expect(await (await emailQueue.getJob(jobId))?.getState()).toBe("delayed");
  });
});
