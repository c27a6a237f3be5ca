// Authenticated encryption of small records: AES-256-GCM with a random nonce and a version byte.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + NONCE_BYTES;

/**
 * Returns version, nonce, ciphertext and tag concatenated.
 * @param key 32 bytes
 * @param boundTo additional authenticated data, so that a record cannot be moved to another owner or place
 */
export function seal(key: Uint8Array, plain: Uint8Array, boundTo: string): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(boundTo));
  const body = cipher.update(plain);
  cipher.final();
  return new Uint8Array(Buffer.concat([Uint8Array.of(VERSION), nonce, body, cipher.getAuthTag()]));
}

/** Decrypts with any of these keys. Null: no key fits, or the binding or data is wrong. */
export function openWithAny(
  keys: readonly Uint8Array[],
  sealed: Uint8Array,
  boundTo: string,
): Uint8Array | null {
  for (const key of keys) {
    const plain = open(key, sealed, boundTo);
    if (plain) return plain;
  }
  return null;
}

/** Decrypts sealed bytes. Null: the key, the binding or the data is wrong. */
export function open(key: Uint8Array, sealed: Uint8Array, boundTo: string): Uint8Array | null {
  if (sealed.length < HEAD_BYTES + TAG_BYTES || sealed[0] !== VERSION) return null;
  const end = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, HEAD_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(boundTo));
  decipher.setAuthTag(sealed.subarray(end));
  const plain = decipher.update(sealed.subarray(HEAD_BYTES, end));
  try {
    decipher.final();
  } catch {
    return null;
  }
  return new Uint8Array(plain);
}
