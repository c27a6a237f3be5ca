// The configuration as the program uses it: the validated file, plus values derived from positions in it and from the
// environment. Immutable.
import { toWishes } from '../../canonical/index.ts';
import type { Network } from '../../upstream/network.ts';
import type { ConfigFile } from './schema/schema.ts';

export type Config = Omit<ConfigFile, 'keys' | 'upstream'> & {
  readonly keys: readonly KeyConfig[];
  readonly upstream: ConfigFile['upstream'] & {
    /** Proxies and authorities of outgoing connections. */
    readonly network: Network;
  };
};

export type KeyConfig = ReturnType<typeof toKeys>[number];

/**
 * Completes a validated file. The result is deeply frozen.
 * @param network from the environment and certificate files
 */
export function toConfig(file: ConfigFile, network: Network): Config {
  return deepFreeze({ ...file, keys: toKeys(file), upstream: { ...file.upstream, network } });
}

/** Non-empty keys. Ignored entries keep their index in the file. */
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
