import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "./free-port.ts";

async function listen(port: number): Promise<number> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  // A server that listens on host and port has an address of this form.
  return (server.address() as AddressInfo).port;
}

test("a port that is chosen now and used in a while is none that a system gives, where nobody set it otherwise, to whoever asks for any", async () => {
  for (let turn = 0; turn < 100; turn++) expect(await freePort()).toBeLessThan(32_768);
});

test("a port that was chosen is given to nobody else, though nobody listens on it yet, and whoever it is for can", async () => {
  const ports: number[] = [];
  // One after the other, or the looks themselves would keep two from the same. Chosen by chance alone, four or five of so many would be.
  while (ports.length < 300) ports.push(await freePort());
  expect(new Set(ports).size).toBe(ports.length);
  expect(await listen(ports[0] ?? 0)).toBe(ports[0]);
});

test("a program that has chosen a port, and never used it, ends by itself", async () => {
  const source = `await (await import(${JSON.stringify(import.meta.resolve("./free-port.ts"))})).freePort();`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", source], {
    stdio: "ignore",
    timeout: 10_000,
  });
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("a wanted port is kept while it is free, and gives way to another when it is taken", async () => {
  const wanted = await freePort();
  expect(await freePort(wanted)).toBe(wanted);
  await listen(wanted);
  expect(await listen(await freePort(wanted))).not.toBe(wanted);
});

test("a process that may open no more is told so, and does not look for a port for ever", async () => {
  const path = new URL("./free-port.ts", import.meta.url).pathname;
  const takeAll = `import { freePort } from ${JSON.stringify(path)}; for (;;) await freePort();`;
  const asked = promisify(execFile)("sh", [
    "-c",
    `ulimit -n 60; exec "$0" --input-type=module -e "$1"`,
    process.execPath,
    takeAll,
  ]);
  await expect(asked).rejects.toThrow(/got none in 100 attempts, at last because of .*EMFILE/);
});
