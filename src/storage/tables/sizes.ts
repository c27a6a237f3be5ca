// Sizes of stored objects for the quota, and the error for an exceeded quota.
import { GatewayError } from '../../canonical/index.ts';

/** Bytes that each row counts in addition to its texts. About its actual overhead. */
export const ROW_BYTES = 128;

/** Bytes that a row with this text counts. */
export function rowBytes(text: string): number {
  return ROW_BYTES + Buffer.byteLength(text);
}

/** Expiry of objects that never expire. A number, so that one comparison covers both cases. */
export const NEVER = Number.MAX_SAFE_INTEGER;

/**
 * Error for an exceeded quota.
 * @param bytes bytes to store
 * @param kept bytes of conversations, prompts and files
 * @param most quota in bytes
 */
export function quotaRefusal(bytes: number, kept: number, most: number): GatewayError {
  const mb = (count: number): string => (count / 1_000_000).toFixed(2);
  return new GatewayError(
    'quota',
    `The storage quota of ${mb(most)} MB for this key and its project is exceeded: ${mb(kept)} MB are in use, and this needs ${mb(bytes)} MB. Delete conversations, prompts or files.`,
    { fault: 'client', code: 'storage_quota' },
  );
}
