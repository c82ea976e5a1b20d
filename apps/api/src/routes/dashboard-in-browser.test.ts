import { existsSync } from "node:fs";
import { queueNames } from "@millrace/worker-config";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiKey, basic, useTestApp } from "../../test/test-app.ts";

// Debian's, which `.ci/run` installs. Where there is none, the same is asked of what the server sends.
const executablePath = "/usr/bin/chromium";
const switches = ["no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-sync"];
const background = ["disable-background-networking", "disable-component-update"];

const app = useTestApp();
let origin: string;
let browser: Browser | undefined;
beforeAll(async () => {
  origin = await app().listen({ host: "127.0.0.1", port: 0 });
  if (!existsSync(executablePath)) return;
  browser = await chromium.launch({
    executablePath,
    args: [...switches, ...background].map((name) => `--${name}`),
  });
});
afterAll(async () => {
  await browser?.close();
});
test("a person without access sees the login page, with access every queue, and no other host hears of it", async () => {
  const foreign = browser ? await walk(await browser.newPage()) : await readPages();
  expect(foreign).toEqual([]);
});

/** @returns what was asked of other hosts, also where a policy then stopped it */
async function walk(page: Page): Promise<string[]> {
  const foreign: string[] = [];
  page.setDefaultTimeout(15_000);
  page.on("request", (request) => {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith("data:")) foreign.push(request.url());
  });
  await page.goto(`${origin}/admin/queues`);
  expect(page.url()).toBe(`${origin}/login?next=%2Fadmin%2Fqueues`);
  const asked = await page
    .evaluate("fetch('/admin/queues/api/queues').then(({ status }) => status)")
    .catch(() => "stopped");
  // The page of the login may not even ask.
  expect(["stopped", 401]).toContain(asked);
  await page.fill("#key", "wrong-key-wrong-key");
  await page.click("button");
  await page.getByText("not a key that is in force").waitFor();
  await page.fill("#key", apiKey);
  await page.click("button");
  await page.waitForURL(`${origin}/admin/queues`);
  for (const name of queueNames.options) await page.getByText(name, { exact: true }).first().waitFor();
  await page.goto(`${origin}/login`);
  await page.getByRole("button", { name: "Log out" }).click();
  await page.waitForURL(`${origin}/login`);
  await page.goto(`${origin}/admin/queues`);
  expect(page.url()).toContain("/login");
  return foreign;
}

/** @returns what the pages would load from other hosts */
async function readPages(): Promise<string[]> {
  const login = await fetch(`${origin}/admin/queues`, { headers: { accept: "text/html" } });
  expect(login.url).toContain("/login");
  const pages = await Promise.all(
    ["/login", "/admin/queues"].map(async (path) => (await fetch(origin + path, { headers: basic })).text()),
  );
  return pages
    .flatMap((page) => [...page.matchAll(/<(?:script|link|img)[^>]+(?:src|href)="?(?:https?:)?\/\/[^>]*>/g)])
    .map(String);
}
