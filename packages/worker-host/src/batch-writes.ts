import type { Writable } from "node:stream";

/** More at a time saves little more, and Redis would begin with the first only when the last is made. */
const atMost = 4;

/** Several times what all the replies take that come from Redis at once, to short jobs. In a longer turn somebody computes, beside which system calls are nothing. */
const longTurnMs = 20;

/** How many short turns in a row say that the next one is short as well. */
const trustedAfterTurns = 100;

/**
 * Sends what a worker writes to Redis in one turn of the event loop together, four commands at a time. What Redis answers comes for many jobs at
 * once, and each of them ends with a command of its own: sent one by one, their system calls are a tenth of what a short job costs.
 *
 * What is held is lost with its process, and its job runs again. While handlers keep the loop for themselves, so that turns are long, and before
 * anybody knows whether they do, each command is sent at once.
 *
 * @param client BullMQ's, whose connection may be another one after an outage
 * @param now a clock in milliseconds that never goes back, a parameter so that a test can hold it
 */
export function batchWrites(
  client: { on(event: "connect", listener: () => void): unknown },
  now: () => number = () => performance.now(),
): void {
  const batch = () => {
    // ioredis has the stream of its connection here; BullMQ's type of a client, which may be another library's, leaves it out.
    const { stream } = client as { stream?: Writable };
    if (stream) batchStream(stream, now);
  };
  batch();
  client.on("connect", batch);
}

function batchStream(stream: Writable, now: () => number): void {
  const { write } = stream;
  let [held, isInTurn, turnBeganAt, shortTurns] = [0, false, 0, 0];
  const release = () => {
    if (held === 0) return;
    held = 0;
    stream.uncork();
  };
  const endTurn = () => {
    release();
    isInTurn = false;
    shortTurns = now() - turnBeganAt > longTurnMs ? 0 : shortTurns + 1;
  };
  const beginTurn = (untilEnd: () => void) => {
    if (isInTurn) return;
    isInTurn = true;
    turnBeganAt = now();
    untilEnd();
  };
  // A tick that a microtask asks for comes when none is left, and so after all that is done with the answers.
  const endBehindAnswers = () => queueMicrotask(endBehindTurn);
  const endBehindTurn = () => process.nextTick(endTurn);
  const hold = (...chunk: Parameters<Writable["write"]>) => {
    beginTurn(endBehindTurn);
    if (shortTurns < trustedAfterTurns) return write.apply(stream, chunk);
    if (held === 0) stream.cork();
    held += 1;
    const hasRoom = write.apply(stream, chunk);
    if (held === atMost) release();
    return hasRoom;
  };
  // Whichever overload is called, the same arguments go on.
  stream.write = hold as Writable["write"];
  stream.prependListener("data", () => beginTurn(endBehindAnswers));
}
