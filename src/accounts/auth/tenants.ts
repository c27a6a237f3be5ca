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
  /** Creates the audit log entry of a change. It is stored in the same transaction. */
  readonly entryOf: (change: TenantChange) => AuditEntry;
}

/** A change of a key or a project, without secrets. */
export interface TenantChange {
  /** Kind of object and action, e.g. `key.create`. */
  readonly action: string;
  /** Id of the object. */
  readonly target: string;
  /** The object before the change; null if it was created. */
  readonly before: JsonObject | null;
  /** The object after the change. */
  readonly after: JsonObject;
}

/** Origin of a definition. Definitions of the file can only be changed there. */
export type Source = 'file' | 'database';

/** Precondition of a change. */
export interface ChangeCondition {
  /** Required current version; absent: any. */
  readonly ifVersion?: number | undefined;
}
