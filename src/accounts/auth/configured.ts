// Keys and projects as the configuration file has them. What it defines is changed there, and nowhere else.
import { GatewayError, type KeyRole, type RoutingWishes } from '../../canonical/index.ts';
import type { LimitEntry } from '../limits/index.ts';
import { hashKey } from './key-format.ts';
import type { UnixMs } from '../../base/units.ts';

/** A key given in clear by the configuration or the environment. */
export interface ConfiguredKey {
  readonly name: string;
  readonly key: string;
  readonly models?: readonly string[] | null | undefined;
  /** `null` or absent: never. */
  readonly expiresAt?: UnixMs | null | undefined;
  /** Null or absent: as the configuration says. */
  readonly logContent?: boolean | null | undefined;
  readonly strict?: boolean | null | undefined;
  readonly onDisconnect?: string | null | undefined;
  readonly routing?: RoutingWishes | null | undefined;
  /** Null or absent: it is a project of its own. */
  readonly project?: string | null | undefined;
  /** Absent: `models` alone. */
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
  /** By name. */
  readonly projects?: Readonly<Record<string, ConfiguredProject>> | undefined;
  /** The key that may manage the gateway; null or absent: there is none. */
  readonly adminKey?: string | null | undefined;
}

/** Id of the configured administrator's key in records and logs. */
const ADMIN_KEY_ID = 'key_admin';
const ADMIN_KEY_NAME = 'admin';

/** A key of the configuration with what it is found by. */
export interface ConfiguredEntry extends ConfiguredKey {
  readonly id: string;
  readonly hash: string;
}

/**
 * The keys that are not empty, the administrator's among them.
 * @param pepper `storage.secret('pepper')`
 * @param earlier those of before, of which the oldest names the keys: nobody becomes another owner by a new one
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
      // From its hash: the same key is the same owner after a restart and under a new name.
      const name = oldest === pepper ? hash : hashKey(configured.key, oldest);
      return { ...configured, id: `key_${name.slice(0, 20)}`, hash };
    });
  if (!adminKey) return entries;
  const hash = hashKey(adminKey, pepper);
  return [...entries, { id: ADMIN_KEY_ID, name: ADMIN_KEY_NAME, key: adminKey, hash, roles: ['admin'] }];
}

/** The refusal to change something that the configuration file defines. */
export function definedInFile(what: string): GatewayError {
  return new GatewayError('conflict', `${what} is defined in the configuration file: change it there`, {
    code: 'defined_in_file',
  });
}
