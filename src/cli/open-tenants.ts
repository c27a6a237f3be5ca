// What the configuration says of keys and projects, in the words of those who look after them.
import type { ConfiguredTenants, Tenants } from '../auth/index.ts';
import type { Config } from '../config/index.ts';
import type { Storage } from '../storage/ports.ts';

export function configuredTenants({ keys, projects, server }: Config): ConfiguredTenants {
  return {
    keys: keys.map(({ key, ...rest }) => ({ ...rest, key: key.reveal() })),
    projects,
    adminKey: server.adminKey?.reveal(),
  };
}

/** What changes keys and projects. @param now Unix milliseconds */
export async function openTenants(
  storage: Storage,
  config: () => Config,
  now: () => number,
): Promise<Tenants> {
  const pepper = await storage.secret('pepper');
  return { storage, pepper, configured: () => configuredTenants(config()), now };
}
