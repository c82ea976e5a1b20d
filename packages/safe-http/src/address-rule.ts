import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Whether a connection to this IP address may be made. */
export type AddressRule = (address: string) => boolean;

// The only part of IPv6 that is given out for the internet. What else looks public is IPv4 in disguise (`::7f00:1`), or kept for later.
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

const privateRanges: ReadonlySet<string> = new Set(["loopback", "private", "uniqueLocal", "carrierGradeNat"]);

/**
 * Where clouds answer their own machines, outside of the link-local range. To the internet some of these look public or private, and there is
 * no use for them that a stranger's URL could have.
 */
const metadataServices: ReadonlySet<string> = new Set(
  [
    // Azure's platform, https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
    "168.63.129.16",
    // AWS over IPv6.
    "fd00:ec2::254",
    // Alibaba Cloud.
    "100.100.100.200",
    // Nearly everybody; link-local.
    "169.254.169.254",
  ].map((address) => ipaddr.parse(address).toNormalizedString()),
);

/**
 * An address of the public internet. Refused is everything else: loopback, private and link-local ranges, the metadata service of a cloud
 * (169.254.169.254), multicast, documentation, and IPv6 addresses that carry an IPv4 one (6to4, Teredo, NAT64), whatever that is. On a
 * network that reaches IPv4 through NAT64 alone, names that resolve to such an address are refused as well.
 */
export const isPublicAddress: AddressRule = (address) => {
  const parsed = parse(address);
  if (parsed?.range() !== "unicast" || isMetadataService(parsed)) return false;
  return parsed.kind() === "ipv4" || parsed.match(globalUnicast);
};

/** A public address, or one of a private network, this machine included. Link-local ones and the metadata services of clouds are refused all the same. */
export const isPublicOrPrivateAddress: AddressRule = (address) => {
  if (isPublicAddress(address)) return true;
  const parsed = parse(address);
  return parsed !== undefined && privateRanges.has(parsed.range()) && !isMetadataService(parsed);
};

function isMetadataService(parsed: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return metadataServices.has(parsed.toNormalizedString());
}

/** An IPv4-mapped IPv6 address is taken for the IPv4 address that a connection to it reaches. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // ipaddr.js also takes forms that a socket does not, such as 0x7f.1.
  return isIP(address) === 0 ? undefined : ipaddr.process(address);
}
