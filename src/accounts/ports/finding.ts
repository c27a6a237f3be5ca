// Port of findings about endpoints, where several processes share them. Knows nothing of what was asked or found.
import type { JsonObject } from '../../base/json/index.ts';

/** Finding at one place: the last that was stored counts. */
export interface StoredFinding {
  readonly provider: string;
  readonly protocol: string;
  /** The upstream's own name. */
  readonly model: string;
  readonly entry: JsonObject;
}

export interface FindingStore {
  /** Every entry as it was stored, by place. */
  all(): Promise<readonly unknown[]>;
  /** Puts findings in the place of older ones, all or none of them. */
  put(findings: readonly StoredFinding[]): Promise<void>;
  /**
   * Forgets findings.
   * @param provider only of this one; undefined: everything
   * @returns how many were forgotten
   */
  forget(provider: string | undefined): Promise<number>;
  /** Another text after each change, by whichever process. Cheap enough to ask every second. */
  mark(): Promise<string>;
}
