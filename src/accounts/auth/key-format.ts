// Format of API keys, and the form in which they are stored. The prefix lets secret scanners find leaked keys; the checksum
// distinguishes a mistyped key from an unknown one.
import { createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const KEY_PREFIX = 'sk-dm-v1-';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 > 2^256 and 62^6 > 2^32. */
const BODY_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

/** Generates a key: prefix, 32 random bytes and their checksum in base 62. */
export function generateKey(bytes: Uint8Array = randomBytes(32)): string {
  const body = KEY_PREFIX + base62(BigInt(`0x${Buffer.from(bytes).toString('hex')}`), BODY_LENGTH);
  return body + checksum(body);
}

/** True for a key with our prefix whose checksum is wrong, because it is truncated or mistyped. */
export function isMistyped(key: string): boolean {
  if (!key.startsWith(KEY_PREFIX)) return false;
  const end = key.length - CHECKSUM_LENGTH;
  return (
    key.length !== KEY_PREFIX.length + BODY_LENGTH + CHECKSUM_LENGTH ||
    checksum(key.slice(0, end)) !== key.slice(end)
  );
}

/** Stored form of a key: HMAC-SHA-256 with the pepper, in hex. Keys are random, so that a slow hash is unnecessary. */
export function hashKey(key: string, pepper: Uint8Array): string {
  return createHmac('sha256', pepper).update(key).digest('hex');
}

/** First and last characters of a key, to recognise it. */
export function keyHint(key: string): string {
  // Short keys are possible in the configuration, and must not be shown in full.
  if (key.length < 20) return '…';
  const shown = key.startsWith(KEY_PREFIX) ? KEY_PREFIX.length + 2 : 3;
  return `${key.slice(0, shown)}…${key.slice(-4)}`;
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET.charAt(Number(rest % 62n)) + text;
  return text;
}
