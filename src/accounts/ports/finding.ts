// Port of probe results about endpoints, shared between processes. Contents are opaque here.
import type { JsonObject } from '../../base/json/index.ts';

/** Result for one question about a model at a provider. The last stored one is valid. */
export interface StoredFinding {
  readonly provider: string;
  readonly protocol: string;
  /** The upstream's name of the model. */
  readonly model: string;
  readonly entry: JsonObject;
}

export interface FindingStore {
  /** All stored entries. */
  all(): Promise<readonly unknown[]>;
  /** Stores results in place of older ones, all or none of them. */
  put(findings: readonly StoredFinding[]): Promise<void>;
  /**
   * Deletes results.
   * @param provider provider of the results; undefined: all
   * @returns number of deleted results
   */
  forget(provider: string | undefined): Promise<number>;
  /** Version, which changes with each write of any process. Cheap enough to read every second. */
  mark(): Promise<string>;
}
