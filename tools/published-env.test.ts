import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { publishEnv, publishedEnvFile } from "./published-env.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-published-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("of two dev commands in one folder the commands beside them stay with the first, while it runs", async () => {
  const file = publishedEnvFile(folder);
  const first = spawn(process.execPath, ["--eval", "setInterval(() => {}, 60_000)"]);
  const ended = once(first, "exit");
  onTestFinished(() => void first.kill());
  await writeFile(file, `# pid ${first.pid}\nREDIS_URL=redis://first\n`);
  const second = publishEnv(folder, { REDIS_URL: "redis://second" });
  expect(second.publisher).toBe(first.pid);
  await second.withdraw();
  expect(await readFile(file, "utf8")).toContain("redis://first");

  first.kill("SIGKILL");
  await ended;
  const third = publishEnv(folder, { REDIS_URL: "redis://third" });
  expect(third.publisher).toBe(process.pid);
  expect(await readFile(file, "utf8")).toBe(`# pid ${process.pid}\nREDIS_URL=redis://third\n`);
  // What a command of the same id has left is taken over.
  expect(publishEnv(folder, { REDIS_URL: "redis://fourth" }).publisher).toBe(process.pid);
  expect(await readFile(file, "utf8")).toContain("redis://fourth");
  await writeFile(file, `# pid ${process.ppid}\n`);
  await third.withdraw();
  expect(existsSync(file)).toBe(true);
  await writeFile(file, `# pid ${process.pid}\n`);
  await third.withdraw();
  expect(existsSync(file)).toBe(false);
});
