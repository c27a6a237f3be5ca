// Keys and projects of the configuration file. They can only be changed in the file.
import { GatewayError, type KeyRole, type RoutingWishes } from '../../canonical/index.ts';
import type { LimitEntry } from '../limits/index.ts';
import { hashKey } from './key-format.ts';
import type { UnixMs } from '../../base/units.ts';

/** A key in plain text, from the configuration or the environment. */
export interface ConfiguredKey {
  readonly name: string;
  readonly key: string;
  readonly models?: readonly string[] | null | undefined;
  /** `null` or absent: never. */
  readonly expiresAt?: UnixMs | null | undefined;
  /** Null or absent: the default of the configuration. */
  readonly logContent?: boolean | null | undefined;
  readonly strict?: boolean | null | undefined;
  readonly onDisconnect?: string | null | undefined;
  readonly routing?: RoutingWishes | null | undefined;
  /** Null or absent: the key is its own project. */
  readonly project?: string | null | undefined;
  /** Absent: only `models`. */
  readonly roles?: readonly KeyRole[] | undefined;
  readonly limits?: readonly LimitEntry[] | undefined;
  readonly budgets?: readonly LimitEntry[] | undefined;
}

export interface ConfiguredProject {
  readonly limits: readonly LimitEntry[];
  readonly budgets: readonly LimitEntry[];
}

export interface ConfiguredTenants {
  readonly keys: readonly ConfiguredKey[];
  /** Projects by name. */
  readonly projects?: Readonly<Record<string, ConfiguredProject>> | undefined;
  /** The admin key; null or absent: none. */
  readonly adminKey?: string | null | undefined;
}

/** Id of the configured admin key in records and logs. */
const ADMIN_KEY_ID = 'key_admin';
const ADMIN_KEY_NAME = 'admin';

/** A configured key with its id and hash. */
export interface ConfiguredEntry extends ConfiguredKey {
  readonly id: string;
  readonly hash: string;
}

/**
 * All non-empty keys, including the admin key.
 * @param pepper `storage.secret('pepper')`
 * @param earlier earlier peppers. Ids derive from the oldest, so that a new pepper does not change the owner of stored data
 */
export function configuredEntries(
  { keys, adminKey }: ConfiguredTenants,
  pepper: Uint8Array,
  earlier: readonly Uint8Array[] = [],
): readonly ConfiguredEntry[] {
  const oldest = earlier.at(-1) ?? pepper;
  const entries: ConfiguredEntry[] = keys
    .filter(({ key }) => key !== '')
    .map((configured) => {
      const hash = hashKey(configured.key, pepper);
      // Derived from the hash, so that the key keeps its data after a restart and under a new name.
      const name = oldest === pepper ? hash : hashKey(configured.key, oldest);
      return { ...configured, id: `key_${name.slice(0, 20)}`, hash };
    });
  if (!adminKey) return entries;
  const hash = hashKey(adminKey, pepper);
  return [...entries, { id: ADMIN_KEY_ID, name: ADMIN_KEY_NAME, key: adminKey, hash, roles: ['admin'] }];
}

/** Error for a change of something that is defined in the configuration file. */
export function definedInFile(what: string): GatewayError {
  return new GatewayError('conflict', `${what} is defined in the configuration file. Change it there.`, {
    code: 'defined_in_file',
  });
}
