import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Whether a connection to this IP address may be made. */
export type AddressRule = (address: string) => boolean;

// The only part of IPv6 that is given out for the internet. What else looks public is IPv4 in disguise (`::7f00:1`), or kept for later.
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

const privateRanges: ReadonlySet<string> = new Set(["loopback", "private", "uniqueLocal", "carrierGradeNat"]);

/**
 * An address of the public internet. Refused is everything else: loopback, private and link-local ranges, the metadata service of a cloud
 * (169.254.169.254), multicast, documentation, and IPv6 addresses that carry an IPv4 one (6to4, Teredo, NAT64), whatever that is. On a
 * network that reaches IPv4 through NAT64 alone, names that resolve to such an address are refused as well.
 */
export const isPublicAddress: AddressRule = (address) => {
  const parsed = parse(address);
  if (parsed?.range() !== "unicast") return false;
  return parsed.kind() === "ipv4" || parsed.match(globalUnicast);
};

/** A public address, or one of a private network, this machine included. Link-local ones, where metadata services are, are refused all the same. */
export const isPublicOrPrivateAddress: AddressRule = (address) =>
  isPublicAddress(address) || privateRanges.has(parse(address)?.range() ?? "");

/** An IPv4-mapped IPv6 address is taken for the IPv4 address that a connection to it reaches. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // ipaddr.js also takes forms that a socket does not, such as 0x7f.1.
  return isIP(address) === 0 ? undefined : ipaddr.process(address);
}
