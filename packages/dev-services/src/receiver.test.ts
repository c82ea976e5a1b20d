import { once } from "node:events";
import { createServer } from "node:net";
import { createWebhookSecret, signWebhook } from "@millrace/webhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Receiver, startReceiver } from "./receiver.ts";

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.stop());

function post(path = "", secret = receiver.secret, headers: Record<string, string> = {}) {
  const body = '{"type":"<b>order.paid</b>"}';
  const signed = signWebhook({ id: "evt_1", sentAt: new Date(), body }, [secret]);
  return fetch(receiver.url + path, {
    method: "POST",
    headers: { ...signed, "x-webhook-event": "order.paid", ...headers },
    body,
  });
}

test("a webhook is on the page and in the list, with whether it is signed as it should be", async () => {
  expect((await post()).status).toBe(204);
  await post("", createWebhookSecret());
  const list = await (await fetch(`${receiver.httpUrl}/webhooks.json`)).json();
  expect(list).toMatchObject([
    { signature: "signed with another secret than the receiver's" },
    { signature: "verified", path: "/hooks" },
  ]);
  const shown = await (await fetch(receiver.httpUrl)).text();
  expect(shown).toContain("order.paid <small>verified</small>");
  expect(shown).toContain("&lt;b&gt;order.paid&lt;/b&gt;");
});

test("it answers what the path says, and asks for patience where that fits", async () => {
  const [gone, busy] = [await post("/410"), await post("/429")];
  expect([gone.status, busy.status, busy.headers.get("retry-after")]).toEqual([410, 429, "5"]);
});

test("a page of another site sends it nothing", async () => {
  const before = receiver.webhooks().length;
  expect((await post("", receiver.secret, { origin: "https://example.com" })).status).toBe(403);
  expect(receiver.webhooks()).toHaveLength(before);
});

test("a wanted port that is taken is an error that names its variable, or gives way", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const address = taken.address();
  const port = typeof address === "object" && address ? address.port : 0;
  await expect(startReceiver({ port })).rejects.toThrow(`port ${port} (DEV_RECEIVER_HTTP_PORT)`);
  const other = await startReceiver({ port, fallBackToFreePort: true });
  expect(other.url).not.toContain(String(port));
  await other.stop();
  taken.close();
});
