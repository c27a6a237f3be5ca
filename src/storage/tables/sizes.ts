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
    `this needs ${mb(bytes)} MB of the ${mb(most)} MB that may be stored for this key and its project, and conversations, prompts and files hold ${mb(kept)} MB: delete conversations, prompts or files, or send less`,
    { fault: 'client', code: 'storage_quota' },
  );
}
