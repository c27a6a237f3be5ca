// Bytes that stored things count for, and the refusal of a write that finds no room.
import { GatewayError } from '../../canonical/index.ts';

/** Counted for every row besides its texts, so that many empty things have a price as well. About its true cost. */
export const ROW_BYTES = 128;

/** Bytes that a row with this text counts for. */
export function rowBytes(text: string): number {
  return ROW_BYTES + Buffer.byteLength(text);
}

/** The expiry of what never expires: a number, so that one comparison answers for all. */
export const NEVER = Number.MAX_SAFE_INTEGER;

/**
 * The refusal of a write.
 * @param bytes that it needs; @param kept what conversations, prompts and files hold; @param most what may be stored
 */
export function quotaRefusal(bytes: number, kept: number, most: number): GatewayError {
  const mb = (count: number): string => (count / 1_000_000).toFixed(2);
  return new GatewayError(
    'quota',
    `this needs ${mb(bytes)} MB of the ${mb(most)} MB that may be stored for this key and its project, and conversations, prompts and files hold ${mb(kept)} MB: delete conversations, prompts or files, or send less`,
    { fault: 'client', code: 'storage_quota' },
  );
}
