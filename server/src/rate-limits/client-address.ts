import ipaddr from 'ipaddr.js';

/** Bits of an IPv6 address that name a network: one customer has all the rest, and would have as many limits. */
const IPV6_NETWORK_BITS = 64;

/** The name for counting an address: itself for IPv4, however it is written, and its network of 64 bits for IPv6. */
export function clientAddress(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.toByteArray().fill(0, IPV6_NETWORK_BITS / 8);
  return `${ipaddr.fromByteArray(network).toString()}/${IPV6_NETWORK_BITS}`;
}
