// Payloads that each side of a request sent, as they are kept. Knows neither how they were recorded nor what is in
// them.
import type { UnixMs } from '../../base/units.ts';

/** Sender and receiver, in the order of a request's way. */
export const PAYLOAD_STAGES = [
  'client_request',
  'upstream_request',
  'upstream_response',
  'client_response',
] as const;
export type PayloadStage = (typeof PAYLOAD_STAGES)[number];

export interface StoredPayload {
  readonly stage: PayloadStage;
  /** Ordinal of the attempt; null where it is of none. */
  readonly attempt: number | null;
  /** JSON: what stood before the body, and when what of it came. */
  readonly head: string;
  /** The body, compressed with Zstandard. */
  readonly body: Uint8Array;
}

export interface PayloadStore {
  /**
   * Keeps what was said in one request, and forgets the oldest where all of it then is more than there is room for.
   * Resolves when it survives the death of the process.
   * @param maxBytes of all payloads together, compressed
   */
  put(generationId: string, payloads: readonly StoredPayload[], maxBytes: number): Promise<void>;
  /** In the order of the attempts, and of the stages in each; none for what is unknown. */
  find(generationId: string): Promise<readonly StoredPayload[]>;
  /** Forgets some of before a time. @returns how many; 0 when none is left */
  purge(beforeMs: UnixMs): Promise<number>;
}
