// Port of kept answers of the management API; a part of the port of storage.
import type { UnixMs } from '../../base/units.ts';

/** A request with an `Idempotency-Key` that somebody is about to answer. */
export interface ManagementClaim {
  /** Names key and asker. */
  readonly id: string;
  /** Names what is asked. */
  readonly fingerprint: string;
  /** Names this attempt to answer, unlike all others. */
  readonly run: string;
  /** Unix milliseconds: the claim ends then, unless the answer is there. */
  readonly until: UnixMs;
}

/** State of a request that another process answers, or has answered. */
export interface ManagementAnswer {
  readonly fingerprint: string;
  /** Sealed bytes in base 64; null: the answer is being made. */
  readonly sealed: string | null;
}

export interface ManagementAnswerStore {
  /**
   * Takes a request, unless another attempt has it. Forgets what has ended.
   * @returns null where this attempt has it
   */
  claim(claim: ManagementClaim, nowMs: UnixMs): Promise<ManagementAnswer | null>;
  /** Keeps the answer of an attempt. @param until Unix milliseconds */
  keep(claim: Pick<ManagementClaim, 'id' | 'run'>, sealed: string, until: UnixMs): Promise<void>;
  /** Gives up an attempt that failed: the next one may have the request. */
  drop(claim: Pick<ManagementClaim, 'id' | 'run'>): Promise<void>;
}
