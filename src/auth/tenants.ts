// What commands and the management API are given to change keys and projects.
import type { JsonObject } from '../canonical/index.ts';
import type { AuditEntry, Storage } from '../storage/ports.ts';
import type { ConfiguredTenants } from './configured.ts';

export interface Tenants {
  readonly storage: Pick<Storage, 'keys' | 'projects'>;
  /** 32 bytes: `storage.secret('pepper')`. */
  readonly pepper: Uint8Array;
  /** Those of before. */
  readonly earlierPeppers?: readonly Uint8Array[] | undefined;
  /** What the configuration file defines just now. */
  readonly configured: () => ConfiguredTenants;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** What the audit log says of a change; stored with it. */
  readonly entryOf: (change: TenantChange) => AuditEntry;
}

/** A change of a key or a project, without secrets. */
export interface TenantChange {
  /** What was done to what kind of thing, e.g. `key.create`. */
  readonly action: string;
  /** Id of the thing. */
  readonly target: string;
  /** As it was; null where there was nothing. */
  readonly before: JsonObject | null;
  /** As it is. */
  readonly after: JsonObject;
}

/** Where something is defined. What the file defines is changed there alone. */
export type Source = 'file' | 'database';

/** What a change may demand. */
export interface ChangeCondition {
  /** The version that is to be changed; absent: whichever there is. */
  readonly ifVersion?: number | undefined;
}
