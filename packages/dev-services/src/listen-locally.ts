import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import { StartError } from "@millrace/env";

/**
 * Listens on 127.0.0.1.
 *
 * @param port the wanted one, or 0 for any
 * @param fallBackToFreePort whether a wanted port that is taken gives way to a free one
 * @param variable where the port is set, for the error
 * @returns the port
 * @throws StartError when the wanted port is taken
 */
export async function listenLocally(
  server: Server,
  port: number,
  fallBackToFreePort: boolean,
  variable: string,
): Promise<number> {
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch (error) {
    if (fallBackToFreePort && port !== 0) return listenLocally(server, 0, false, variable);
    throw new StartError(
      `Expected port ${port} (${variable}) to be free, got: ${error instanceof Error ? error.message : error}. Choose another one.`,
      { cause: error },
    );
  }
  // A server that listens on host and port has an address of this form.
  return (server.address() as AddressInfo).port;
}
