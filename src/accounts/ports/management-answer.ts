// Port of stored responses of the management API, for idempotency keys.
import type { UnixMs } from '../../base/units.ts';

/** Claim on a request with an `Idempotency-Key`. */
export interface ManagementClaim {
  /** Id of the idempotency key and its caller. */
  readonly id: string;
  /** Fingerprint of the request. */
  readonly fingerprint: string;
  /** Unique id of this attempt. */
  readonly run: string;
  /** Unix milliseconds at which the claim expires without a response. */
  readonly until: UnixMs;
}

/** State of a request that is already claimed. */
export interface ManagementAnswer {
  readonly fingerprint: string;
  /** Encrypted response in base64; null: still running. */
  readonly sealed: string | null;
}

export interface ManagementAnswerStore {
  /**
   * Claims a request, unless another attempt has it. Deletes expired claims.
   * @returns null if this attempt got the claim
   */
  claim(claim: ManagementClaim, nowMs: UnixMs): Promise<ManagementAnswer | null>;
  /** Stores the response of an attempt. @param until expiry in Unix milliseconds */
  keep(claim: Pick<ManagementClaim, 'id' | 'run'>, sealed: string, until: UnixMs): Promise<void>;
  /** Releases the claim of a failed attempt. */
  drop(claim: Pick<ManagementClaim, 'id' | 'run'>): Promise<void>;
}
