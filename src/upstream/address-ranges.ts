// Classifies IP addresses as public or not. Unknown ranges are not public, because new special ranges are assigned from
// reserved space.
import { BlockList, isIP } from 'node:net';

/** IPv4 ranges that are not public, as `[first address, bits]` (IANA IPv4 Special-Purpose Address Registry, 2026-11). */
const NOT_PUBLIC_4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT, and a cloud's metadata at 100.100.100.200
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // Azure's host agent, which has a public number
  ['169.254.0.0', 16], // link-local, and most clouds' metadata at 169.254.169.254
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

/** The same within 2000::/3, outside of which nothing is public (IANA IPv6 Special-Purpose Address Registry, 2026-11). */
const NOT_PUBLIC_6: readonly (readonly [string, number])[] = [
  ['2001::', 23], // protocol assignments: Teredo, benchmarks, ORCHID
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which contains an arbitrary IPv4 address
  ['3fff::', 20], // documentation
];

/**
 * NAT64 (RFC 6052): the IPv4 address after this 96-bit prefix decides. `BlockList` treats IPv4-mapped addresses as
 * IPv4.
 */
const NAT64 = '64:ff9b::';

const SPECIAL = new BlockList();
for (const [first, bits] of NOT_PUBLIC_4) {
  SPECIAL.addSubnet(first, bits, 'ipv4');
  SPECIAL.addSubnet(NAT64 + first, 96 + bits, 'ipv6');
}
for (const [first, bits] of NOT_PUBLIC_6) SPECIAL.addSubnet(first, bits, 'ipv6');

/** Ranges of public addresses, before special ones are excluded. */
const GLOBAL = new BlockList();
GLOBAL.addSubnet('0.0.0.0', 0, 'ipv4');
GLOBAL.addSubnet('2000::', 3, 'ipv6');
GLOBAL.addSubnet(NAT64, 96, 'ipv6');

/** Loopback, the same link (RFC 1122, RFC 3927, RFC 4291), and AWS's metadata services in IPv6. */
const OWN = new BlockList();
OWN.addSubnet('127.0.0.0', 8, 'ipv4');
OWN.addSubnet('169.254.0.0', 16, 'ipv4');
OWN.addAddress('::1', 'ipv6');
OWN.addSubnet('fe80::', 10, 'ipv6');
OWN.addSubnet('fd00:ec2::', 32, 'ipv6');

/** True for a public address. False for all others and for invalid text. */
export function isPublicAddress(text: string): boolean {
  return isListed(GLOBAL, text) && !isListed(SPECIAL, text);
}

/** True for an IPv4 or IPv6 address without brackets. False with a zone (`%eth0`). */
export function isAddress(text: string): boolean {
  return familyOf(text) !== null;
}

/** True for an address that refers to a different machine depending on where it is used. */
export function isLinkLocalOrLoopback(text: string): boolean {
  return isListed(OWN, text);
}

/**
 * True for an address within a range, also for IPv4 mapped into IPv6.
 * @param range an address, or `address/bits`; false if invalid
 */
export function isInRange(text: string, range: string): boolean {
  const [first = '', length, ...rest] = range.split('/');
  const family = familyOf(first);
  if (!family || rest.length > 0) return false;
  const most = family === 'ipv4' ? 32 : 128;
  const bits = length === undefined ? most : /^\d{1,3}$/.test(length) ? Number(length) : -1;
  if (bits < 0 || bits > most) return false;
  const list = new BlockList();
  list.addSubnet(first, bits, family);
  return isListed(list, text);
}

function isListed(list: BlockList, text: string): boolean {
  const family = familyOf(text);
  return family !== null && list.check(text, family);
}

function familyOf(text: string): 'ipv4' | 'ipv6' | null {
  const version = text.includes('%') ? 0 : isIP(text);
  return version === 0 ? null : version === 4 ? 'ipv4' : 'ipv6';
}
