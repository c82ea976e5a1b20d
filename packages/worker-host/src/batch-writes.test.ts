import { EventEmitter } from "node:events";
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { batchWrites } from "./batch-writes.ts";

/** Goes on when a test says so: how busy the machine is makes no turn long. */
let nowMs = 0;
const now = () => nowMs;

/** Resolves behind what was to be done at the turn's end by then. */
async function endOfTurn(): Promise<void> {
  await new Promise<void>((resolve) => process.nextTick(resolve));
}

/** A client whose stream tells what it sends at once. */
class Client extends EventEmitter {
  readonly sent: string[][] = [];
  stream: Writable | undefined;

  connect(): Writable {
    const { sent } = this;
    this.stream = new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done) {
        sent.push([chunk]);
        done();
      },
      writev(chunks, done) {
        sent.push(chunks.map(({ chunk }) => chunk));
        done();
      },
    });
    this.emit("connect");
    return this.stream;
  }

  /** What goes out while and after these are written, in one turn that takes so long before the last one. */
  async sendInOneTurn(commands: string, forMs = 0): Promise<{ during: string[]; after: string[] }> {
    this.sent.length = 0;
    for (const command of commands.slice(0, -1)) this.stream?.write(command);
    nowMs += forMs;
    this.stream?.write(commands.slice(-1));
    const during = this.sent.map((chunks) => chunks.join(""));
    await endOfTurn();
    return { during, after: this.sent.map((chunks) => chunks.join("")).slice(during.length) };
  }

  async shortTurns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn++) await this.sendInOneTurn("x");
  }
}

test("after a hundred short turns what is written in one goes out four at a time, in its order, and the rest with the turn's end", async () => {
  const client = new Client();
  client.connect();
  batchWrites(client, now);
  await client.shortTurns(98);
  await client.sendInOneTurn("x", 20);
  expect(await client.sendInOneTurn("abc")).toEqual({ during: ["a", "b", "c"], after: [] });
  expect(await client.sendInOneTurn("abcdef")).toEqual({ during: ["abcd"], after: ["ef"] });
});

test("after a turn that something kept long each command goes out at once, until a hundred were short again", async () => {
  const client = new Client();
  batchWrites(client, now);
  client.connect();
  await client.shortTurns(100);
  expect(await client.sendInOneTurn("ab", 21)).toEqual({ during: [], after: ["ab"] });
  await client.shortTurns(99);
  expect(await client.sendInOneTurn("ab")).toEqual({ during: ["a", "b"], after: [] });
  expect(await client.sendInOneTurn("ab")).toEqual({ during: [], after: ["ab"] });
});

test("what is done with answers before anything is written belongs to their turn", async () => {
  const client = new Client();
  const stream = client.connect();
  batchWrites(client, now);
  await client.shortTurns(100);
  stream.emit("data", Buffer.alloc(0));
  await Promise.resolve();
  nowMs += 21;
  await endOfTurn();
  expect(await client.sendInOneTurn("ab")).toEqual({ during: ["a", "b"], after: [] });
});

test("what is written to the connection after an outage goes out as that to the first", async () => {
  const client = new Client();
  batchWrites(client, now);
  for (const lost of [client.connect(), client.connect()]) {
    await client.shortTurns(100);
    lost.write("a");
    lost.destroy();
  }
  client.connect();
  expect(await client.sendInOneTurn("ab")).toEqual({ during: ["a", "b"], after: [] });
  await client.shortTurns(99);
  expect(await client.sendInOneTurn("bcde")).toEqual({ during: ["bcde"], after: [] });
});
