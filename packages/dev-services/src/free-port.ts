import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";

// Below those that systems hand out to clients and to servers that want any port (from 32,768 on Linux, from 49,152 elsewhere, RFC 6335 section 6),
// or what starts meanwhile would be given the port before its user has it. So is the second port of a Redis node in a cluster, 10,000 above.
const [firstPort, lastPort] = [12_000, 21_999];

// Where nine of ten are taken, one in 40,000 finds none.
const mostAttempts = 100;

/**
 * A port of 127.0.0.1 that nobody listens on at this moment: `wanted` if it is free, else any that this function gives to nobody else while this
 * process lives. A program that asks for that very port may still take it before its user does.
 *
 * @throws Error where the system refuses every one: it has no file descriptor left for this process, or no UDP, or no 127.0.0.1
 */
export async function freePort(wanted = 0): Promise<number> {
  if (wanted !== 0 && (await whyTaken(wanted)) === undefined) return wanted;
  let why = "";
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const port = randomInt(firstPort, lastPort + 1);
    const refused = (await whyUnclaimed(port)) ?? (await whyTaken(port));
    if (refused === undefined) return port;
    why = refused;
  }
  throw new Error(
    `A free port: expected one of ${firstPort} to ${lastPort} on 127.0.0.1, got none in ${mostAttempts} attempts, at last because of ${why}.`,
  );
}

function whyTaken(port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const probe = createServer();
  probe.once("error", (error) => resolve(error.message));
  probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(undefined)));
  return promise;
}

/** A socket of UDP stands for the port of TCP, which it leaves free: those who choose ports see each other's, in whatever process they are. */
function whyUnclaimed(port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const socket = createSocket("udp4");
  socket.once("error", (error) => {
    socket.close();
    resolve(error.message);
  });
  socket.bind({ port, address: "127.0.0.1", exclusive: true }, () => {
    socket.unref();
    resolve(undefined);
  });
  return promise;
}
