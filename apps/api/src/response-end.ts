import type { FastifyReply } from "fastify";

/**
 * Calls `act` once, when a response is over: with the status that it was sent with, or with 499 where the caller had left before. The framework's
 * own `onResponse` knows the first of these ends alone, and a stream of events has no other end than the second.
 */
export function whenOver(reply: FastifyReply, act: (status: number) => void): void {
  const { raw } = reply;
  let isOver = false;
  const end = (status: number) => {
    if (isOver) return;
    isOver = true;
    act(status);
  };
  raw.once("finish", () => end(raw.statusCode));
  raw.once("close", () => end(callerLeft));
}

// As nginx writes it down: no status of HTTP says so, since nobody is there to read it.
const callerLeft = 499;
