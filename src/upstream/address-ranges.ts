// Which IP addresses belong to the public internet. Whatever is not known to be public is not: new special ranges are
// carved out of space that was reserved before. Knows no names and no URLs.

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
  ['2002::', 16], // 6to4, which holds an IPv4 address of anybody's choice
  ['3fff::', 20], // documentation
];

/** Prefixes of 96 bits before an IPv4 address, which alone decides: IPv4-mapped (RFC 4291) and NAT64 (RFC 6052). */
const EMBEDDING: readonly string[] = ['::ffff:0:0', '64:ff9b::'];

/** True for an address that anybody on the internet could reach; false for all others and for what is no address. */
export function isPublicAddress(text: string): boolean {
  const four = parseIpv4(text);
  if (four) return isPublic4(four);
  const six = parseIpv6(text);
  if (!six) return false;
  if (EMBEDDING.some((prefix) => isWithin(six, parseIpv6(prefix), 96))) return isPublic4(six.slice(12));
  return (
    isWithin(six, [0x20], 3) && !NOT_PUBLIC_6.some(([first, bits]) => isWithin(six, parseIpv6(first), bits))
  );
}

/** True for text that is an IPv4 or IPv6 address, without brackets. */
export function isAddress(text: string): boolean {
  return (parseIpv4(text) ?? parseIpv6(text)) !== undefined;
}

/** Loopback, the same link (RFC 1122, RFC 3927, RFC 4291), and AWS's metadata services in IPv6. */
const OWN: readonly string[] = ['127.0.0.0/8', '169.254.0.0/16', '::1/128', 'fe80::/10', 'fd00:ec2::/32'];

/** True for an address that means another machine wherever it is used. */
export function isLinkLocalOrLoopback(text: string): boolean {
  return OWN.some((range) => isInRange(text, range));
}

/**
 * True for an address within a range; an IPv4 address is the same when it is mapped into IPv6.
 * @param range an address, or `address/bits`; nothing is within what is neither
 */
export function isInRange(text: string, range: string): boolean {
  const [first = '', length, ...rest] = range.split('/');
  const address = plain(text);
  const prefix = plain(first);
  if (!address || address.length !== prefix?.length || rest.length > 0) return false;
  const bits = length === undefined ? address.length * 8 : /^\d{1,3}$/.test(length) ? Number(length) : -1;
  return bits >= 0 && bits <= address.length * 8 && isWithin(address, prefix, bits);
}

function plain(text: string): Bytes | undefined {
  const six = parseIpv6(text);
  if (!six) return parseIpv4(text);
  return isWithin(six, parseIpv6('::ffff:0:0'), 96) ? six.slice(12) : six;
}

type Bytes = readonly number[];

function isPublic4(address: Bytes): boolean {
  return !NOT_PUBLIC_4.some(([first, bits]) => isWithin(address, parseIpv4(first), bits));
}

function isWithin(address: Bytes, prefix: Bytes | undefined, bits: number): boolean {
  for (let at = 0; at * 8 < bits; at++) {
    const mask = (0xff << Math.max(0, 8 - (bits - at * 8))) & 0xff;
    if (((address[at] ?? 0) & mask) !== ((prefix?.[at] ?? 0) & mask)) return false;
  }
  return prefix !== undefined;
}

/** Four decimal numbers and nothing else: every other spelling is normalised by whoever parses URLs. */
function parseIpv4(text: string): Bytes | undefined {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return undefined;
  const bytes = text.split('.').map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

/** RFC 4291 section 2.2, with or without a dotted end; a zone (`%eth0`) makes it no address that may be asked for. */
function parseIpv6(text: string): Bytes | undefined {
  const halves = text.split('::');
  if (!text.includes(':') || halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, at) => groups(half, at === halves.length - 1));
  if (!head || (halves.length === 2 && !tail)) return undefined;
  const missing = 16 - head.length - (tail?.length ?? 0);
  if (halves.length === 1 ? missing !== 0 : missing < 2) return undefined;
  return [...head, ...Array.from({ length: missing }, () => 0), ...(tail ?? [])];
}

function groups(text: string, isLast: boolean): Bytes | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const parts = text.split(':');
  for (const [at, part] of parts.entries()) {
    const dotted = isLast && at === parts.length - 1 ? parseIpv4(part) : undefined;
    if (dotted) bytes.push(...dotted);
    else if (/^[0-9a-f]{1,4}$/i.test(part))
      bytes.push(Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 0xff);
    else return undefined;
  }
  return bytes;
}
