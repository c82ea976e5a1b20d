import { isIP } from "node:net";
import type { AddressRule } from "./address-rule.ts";
import { SafeHttpError } from "./safe-http-error.ts";

/**
 * What a URL must be before anything is connected: http or https, without user and password, on port 80, 443 or above 1023 (below are mail,
 * remote shells and other services that a request could be made to talk to), and no IP address that `isAllowed` refuses. A host that is a
 * name says nothing yet: its addresses are checked when the connection is made.
 *
 * @throws SafeHttpError `url_refused` or `address_refused`
 */
export function checkUrl(given: string, isAllowed: AddressRule): URL {
  // The WHATWG parser turns every way to write an IPv4 address (127.1, 0x7f000001, 2130706433, ①②⑦.0.0.1) into the usual one.
  const url = URL.parse(given);
  if (!url) throw refuse("got none");
  if (url.protocol !== "http:" && url.protocol !== "https:") throw refuse("got another scheme");
  if (url.username !== "" || url.password !== "") throw refuse("got a user or a password in it");
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  if (port < 1024 && port !== 80 && port !== 443) throw refuse(`got port ${port}`);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) checkAddress(host, isAllowed);
  return url;
}

/** @throws SafeHttpError `address_refused` */
export function checkAddress(address: string, isAllowed: AddressRule): void {
  if (isAllowed(address)) return;
  throw new SafeHttpError(
    "address_refused",
    "Expected the host to be a public address, or a name of public addresses alone.",
  );
}

function refuse(got: string): SafeHttpError {
  return new SafeHttpError(
    "url_refused",
    `Expected an http or https URL without credentials, on port 80, 443 or above 1023, ${got}.`,
  );
}
