// Dependencies of commands and the management API that change keys and projects.
import type { JsonObject } from '../../base/json/index.ts';
import type { AuditEntry, Storage } from '../ports/index.ts';
import type { ConfiguredTenants } from './configured.ts';
import type { UnixMs } from '../../base/units.ts';

export interface Tenants {
  readonly storage: Pick<Storage, 'keys' | 'projects'>;
  /** 32 bytes: `storage.secret('pepper')`. */
  readonly pepper: Uint8Array;
  /** Earlier peppers. */
  readonly earlierPeppers?: readonly Uint8Array[] | undefined;
  /** Keys and projects of the current configuration file. */
  readonly configured: () => ConfiguredTenants;
  readonly now: () => UnixMs;
  /** Entry of a change in the audit log; stored with it. */
  readonly entryOf: (change: TenantChange) => AuditEntry;
}

/** A change of a key or a project, without secrets. */
export interface TenantChange {
  /** Kind of thing and action, e.g. `key.create`. */
  readonly action: string;
  /** Id of the thing. */
  readonly target: string;
  /** The thing as it was; null where there was nothing. */
  readonly before: JsonObject | null;
  /** The thing as it is. */
  readonly after: JsonObject;
}

/** Place of a definition. The file's definitions are changed there alone. */
export type Source = 'file' | 'database';

/** Condition of a change. */
export interface ChangeCondition {
  /** The version that is to be changed; absent: whichever there is. */
  readonly ifVersion?: number | undefined;
}
