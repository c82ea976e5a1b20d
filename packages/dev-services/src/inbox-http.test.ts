import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createMailer, plainMail } from "../test/mailer.ts";
import { type Inbox, startInbox } from "./inbox.ts";

let inbox: Inbox;

beforeAll(async () => {
  inbox = await startInbox();
});

beforeEach(async () => {
  await ask("/messages.json", { method: "DELETE" });
});

afterAll(() => inbox.stop());

async function ask(path: string, init: RequestInit = {}) {
  return fetch(new URL(path, inbox.httpUrl), { redirect: "manual", ...init });
}

/** fetch does not let its caller choose the Host header. */
async function askAs(host: string, path: string) {
  const asked = request(new URL(path, inbox.httpUrl), { headers: { host } }).end();
  const [response] = await once(asked, "response");
  return { status: response.statusCode, body: await text(response) };
}

async function send(mail: object): Promise<string> {
  await createMailer(inbox.smtpUrl).sendMail({ ...plainMail, ...mail });
  return inbox.messages()[0]?.id ?? "";
}

test("an empty inbox says so and shows where mail is to be sent", async () => {
  const page = await (await ask("/")).text();
  expect(page).toContain("No mail yet");
  expect(page).toContain(inbox.smtpUrl);
});

describe("a mail", () => {
  test("appears in the list, under its id and on the page", async () => {
    const id = await send({ subject: "Welcome", html: "<h1>Rich</h1>", text: "Plain" });
    const [message] = inbox.messages();
    expect(message).toMatchObject({ id, subject: "Welcome", html: expect.stringContaining("<h1>Rich</h1>") });
    expect(await (await ask("/messages.json")).json()).toEqual([message]);
    expect(await (await ask(`/messages/${id}.json`)).json()).toEqual(message);
    expect(await (await ask("/")).text()).toContain("Welcome");
    expect(await (await ask(`/?open=${id}`)).text()).toMatch(/<pre>Plain\s*<\/pre>/);
  });

  test("comes newest first", async () => {
    await send({ subject: "first" });
    await send({ subject: "second" });
    const list = await (await ask("/messages.json")).json();
    expect(list).toMatchObject([{ subject: "second" }, { subject: "first" }]);
  });

  test("cannot put markup of its own on the page, from whichever field", async () => {
    const attack = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`;
    const id = await send({
      subject: `S ${attack}`,
      from: { name: attack, address: "eve@example.com" },
      text: `T ${attack}`,
      html: `H ${attack}</iframe>`,
    });
    for (const path of ["/", `/?open=${id}`]) {
      const page = await (await ask(path)).text();
      expect(page).not.toMatch(/<script|<img/i);
      expect(page).toContain("S &quot;&#39;&gt;&lt;script&gt;");
    }
  });

  test("shows its HTML only in a frame that may do nothing", async () => {
    const id = await send({ html: `<p title="a">rich</p>` });
    const frames = (await (await ask(`/?open=${id}`)).text()).match(/<iframe[^>]*>/g);
    expect(frames).toHaveLength(1);
    expect(frames?.[0]).toContain('sandbox=""');
    expect(frames?.[0]).toContain('srcdoc="&lt;p title=&quot;a&quot;&gt;rich&lt;/p&gt;');
    expect(frames?.[0]).not.toContain("src=");
  });

  test("is read without the page loading itself anew; the list does", async () => {
    const id = await send({});
    expect(await (await ask("/")).text()).toContain('http-equiv="refresh"');
    expect(await (await ask(`/?open=${id}`)).text()).not.toContain('http-equiv="refresh"');
  });
});

test("the page forbids scripts, and everything from elsewhere", async () => {
  const policy = (await ask("/")).headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/script-src|https?:|\*/);
});

test.each(["evil.example", "evil.example:8025", "127.0.0.1.evil.example", "localhost@evil.example"])(
  "a page that made its name %s point here is told nothing",
  async (host) => {
    await send({ subject: "confidential" });
    for (const path of ["/", "/messages.json"]) {
      const { status, body } = await askAs(host, path);
      expect(status).toBe(403);
      expect(body).not.toContain("confidential");
    }
  },
);

test("localhost is a name of this inbox too", async () => {
  expect((await askAs(`localhost:${new URL(inbox.httpUrl).port}`, "/")).status).toBe(200);
});

describe("clearing", () => {
  test("empties the inbox for a person and for a program", async () => {
    await send({});
    const cleared = await ask("/clear", { method: "POST" });
    expect([cleared.status, cleared.headers.get("location")]).toEqual([303, "/"]);
    expect(inbox.messages()).toEqual([]);
    await send({});
    expect((await ask("/messages.json", { method: "DELETE" })).status).toBe(200);
    expect(inbox.messages()).toEqual([]);
  });

  test("is not done for a form on a foreign page", async () => {
    await send({});
    const refused = await ask("/clear", { method: "POST", headers: { origin: "https://evil.example" } });
    expect(refused.status).toBe(403);
    expect(inbox.messages()).toHaveLength(1);
  });
});

test.each(["/messages/999999.json", "/messages/x.json", "/nothing", "/../etc/passwd"])(
  "%s is not there, and says so",
  async (path) => {
    const response = await fetch(`${inbox.httpUrl}${path}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toHaveProperty("error");
  },
);
