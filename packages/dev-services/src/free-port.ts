import { createServer } from "node:net";

/**
 * A port of 127.0.0.1 that nobody listens on at this moment: `wanted` if it is free, else any. Another program may take it before its
 * user does.
 */
export async function freePort(wanted = 0): Promise<number> {
  const probe = createServer();
  const { promise, resolve: found } = Promise.withResolvers<number | undefined>();
  probe.once("error", () => found(undefined));
  probe.listen(wanted, "127.0.0.1", () => {
    const address = probe.address();
    probe.close(() => found(typeof address === "object" && address ? address.port : undefined));
  });
  return (await promise) ?? freePort();
}
