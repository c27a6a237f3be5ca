// Port of recorded request and response bodies.
import type { UnixMs } from '../../base/units.ts';

/** Stages of a request: sender and receiver, in order. */
export const PAYLOAD_STAGES = [
  'client_request',
  'upstream_request',
  'upstream_response',
  'client_response',
] as const;
export type PayloadStage = (typeof PAYLOAD_STAGES)[number];

export interface StoredPayload {
  readonly stage: PayloadStage;
  /** Ordinal of the attempt; null: not part of an attempt. */
  readonly attempt: number | null;
  /** JSON: headers, and the time of each read. */
  readonly head: string;
  /** The body, compressed with Zstandard. */
  readonly body: Uint8Array;
}

export interface PayloadStore {
  /**
   * Stores the payloads of a request, and deletes the oldest ones beyond the limit. They survive a crash when it resolves.
   * @param maxBytes limit of all compressed payloads together
   */
  put(generationId: string, payloads: readonly StoredPayload[], maxBytes: number): Promise<void>;
  /** Payloads in order of attempts and stages; empty if unknown. */
  find(generationId: string): Promise<readonly StoredPayload[]>;
  /** Deletes some payloads before a time. @returns how many; 0: none are left */
  purge(beforeMs: UnixMs): Promise<number>;
}
