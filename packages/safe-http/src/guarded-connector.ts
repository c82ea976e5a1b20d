import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import type { AddressRule } from "./address-rule.ts";
import { checkAddress } from "./check-url.ts";
import { SafeHttpError, toSafeHttpError } from "./safe-http-error.ts";

/** Every address that a name has now. Rejects where it has none. */
export type ResolveName = (hostname: string) => Promise<readonly LookupAddress[]>;

/** As the operating system resolves names, its hosts file included. */
export const resolveBySystem: ResolveName = (hostname) => lookup(hostname, { all: true });

/**
 * Checks a connection in three places: the host itself where it is an address, every address that its name resolves to, of which one that is
 * refused refuses the name, and at the end the address that the socket is really connected to. A name is resolved once per connection, and
 * the connection goes to what was checked: an answer that changes in between is never asked for.
 *
 * @param connect makes the connection, to an address that `lookup` gives
 */
export function guardConnector(
  isAllowed: AddressRule,
  resolve: ResolveName,
  connect: (lookup: LookupFunction) => buildConnector.connector = (lookupAddresses) =>
    // Its own timeout would be a second one beside the request's deadline.
    buildConnector({ lookup: lookupAddresses, timeout: 0, allowH2: false }),
): buildConnector.connector {
  const connectGuarded = connect((hostname, options, callback) => {
    resolveAllowed(hostname, isAllowed, resolve).then(
      (addresses) => {
        if (options.all) callback(null, addresses);
        else callback(null, addresses[0]?.address ?? "", addresses[0]?.family);
      },
      (error: unknown) => callback(toSafeHttpError(error), ""),
    );
  });
  return (options, callback) => {
    try {
      if (isIP(options.hostname) !== 0) checkAddress(options.hostname, isAllowed);
    } catch (error) {
      return callback(toSafeHttpError(error), null);
    }
    connectGuarded(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      try {
        checkAddress(socket.remoteAddress ?? "", isAllowed);
        callback(null, socket);
      } catch (refusal) {
        socket.destroy();
        callback(toSafeHttpError(refusal), null);
      }
    });
  };
}

async function resolveAllowed(
  hostname: string,
  isAllowed: AddressRule,
  resolve: ResolveName,
): Promise<LookupAddress[]> {
  const addresses = await resolve(hostname).catch((error: unknown) => {
    const code = Error.isError(error) && "code" in error ? String(error.code) : "no code";
    throw new SafeHttpError("dns_failed", `The host's name could not be resolved (${code}).`);
  });
  if (addresses.length === 0) throw new SafeHttpError("dns_failed", "The host's name has no address.");
  for (const { address } of addresses) checkAddress(address, isAllowed);
  return [...addresses];
}
