import { EventEmitter } from "node:events";
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { batchWrites } from "./batch-writes.ts";

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
}

test("what is written in one turn goes out four at a time, in its order, and the rest with the turn's end", async () => {
  const client = new Client();
  const stream = client.connect();
  batchWrites(client);
  for (const command of ["a", "b", "c", "d", "e", "f"]) stream.write(command);
  expect(client.sent).toEqual([["a", "b", "c", "d"]]);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  process.nextTick(resolve, undefined);
  await promise;
  expect(client.sent).toEqual([
    ["a", "b", "c", "d"],
    ["e", "f"],
  ]);
});

test("what is held goes out when it is told to, and what comes after it with the turn's end", async () => {
  const client = new Client();
  const send = batchWrites(client);
  const stream = client.connect();
  for (const command of ["a", "b"]) stream.write(command);
  send();
  expect(client.sent).toEqual([["a", "b"]]);
  stream.write("c");
  const { promise, resolve } = Promise.withResolvers<unknown>();
  process.nextTick(resolve, undefined);
  await promise;
  expect(client.sent).toEqual([["a", "b"], ["c"]]);
});

test("so does what is written to the connection after an outage", async () => {
  const client = new Client();
  batchWrites(client);
  for (const lost of [client.connect(), client.connect()]) {
    lost.write("a");
    lost.destroy();
  }
  const stream = client.connect();
  for (const command of ["b", "c", "d", "e"]) stream.write(command);
  expect(client.sent).toEqual([["b", "c", "d", "e"]]);
});
