import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";

// Below those that systems hand out to clients and to servers that want any port (from 32,768 on Linux, from 49,152 elsewhere, RFC 6335 section 6),
// or what starts meanwhile would be given the port before its user has it. So is the second port of a Redis node in a cluster, 10,000 above.
const [firstPort, lastPort] = [12_000, 21_999];

/**
 * A port of 127.0.0.1 that nobody listens on at this moment: `wanted` if it is free, else any that this function gives to nobody else while this
 * process lives. A program that asks for that very port may still take it before its user does.
 */
export async function freePort(wanted = 0): Promise<number> {
  if (wanted !== 0) return (await isFree(wanted)) ? wanted : freePort();
  const port = randomInt(firstPort, lastPort + 1);
  return (await claim(port)) && (await isFree(port)) ? port : freePort();
}

function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const probe = createServer();
  probe.once("error", () => resolve(false));
  probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  return promise;
}

/** A socket of UDP stands for the port of TCP, which it leaves free: those who choose ports see each other's, in whatever process they are. */
function claim(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = createSocket("udp4");
  socket.once("error", () => {
    socket.close();
    resolve(false);
  });
  socket.bind({ port, address: "127.0.0.1", exclusive: true }, () => {
    socket.unref();
    resolve(true);
  });
  return promise;
}
