// What commands and the management API are given to change keys and projects.
import type { Storage } from '../storage/ports.ts';
import type { ConfiguredTenants } from './configured.ts';

export interface Tenants {
  readonly storage: Pick<Storage, 'keys' | 'projects'>;
  /** 32 bytes: `storage.secret('pepper')`. */
  readonly pepper: Uint8Array;
  /** What the configuration file defines just now. */
  readonly configured: () => ConfiguredTenants;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Where something is defined. What the file defines is changed there alone. */
export type Source = 'file' | 'database';

/** What a change may demand. */
export interface ChangeCondition {
  /** The version that is to be changed; absent: whichever there is. */
  readonly ifVersion?: number | undefined;
}
