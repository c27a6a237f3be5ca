// The configuration as the program uses it: a checked file as it is, and besides what follows from where its parts stand and
// from the environment. Immutable.
import { toWishes } from '../../canonical/index.ts';
import type { Network } from '../../upstream/network.ts';
import type { ConfigFile } from './schema/schema.ts';

export type Config = Omit<ConfigFile, 'keys' | 'upstream'> & {
  readonly keys: readonly KeyConfig[];
  readonly upstream: ConfigFile['upstream'] & {
    /** Proxies and authorities, for everything that goes out. */
    readonly network: Network;
  };
};

export type KeyConfig = ReturnType<typeof toKeys>[number];

/**
 * Completes a checked file. The result is frozen all the way down.
 * @param network what the environment and files of certificates say of outgoing connections
 */
export function toConfig(file: ConfigFile, network: Network): Config {
  return deepFreeze({ ...file, keys: toKeys(file), upstream: { ...file.upstream, network } });
}

/** Keys that are not empty. An entry that is ignored has a place in the file, too. */
function toKeys({ keys }: ConfigFile) {
  return keys.flatMap(({ key, expires, routing, ...entry }, place) => {
    if (key === null) return [];
    return {
      ...entry,
      key,
      /** Unix milliseconds; null: never. */
      expiresAt: expires === null ? null : Date.parse(expires),
      routing: routing && toWishes(routing, `keys[${place}].routing`),
    };
  });
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}
