// Keys and projects of the configuration, in the form of their commands.
import {
  KeyCommands,
  type ConfiguredTenants,
  type KeyIndex,
  type Tenants,
} from '../../../accounts/auth/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import type { Config } from '../../config/index.ts';
import { newId } from '../../../base/runtime/ids.ts';
import type { AuditEntry, Storage } from '../../../accounts/ports/index.ts';
import type { UnixMs } from '../../../base/units.ts';

export function configuredTenants({ keys, projects, server }: Config): ConfiguredTenants {
  return {
    keys: keys.map(({ key, ...rest }) => ({ ...rest, key: key.reveal() })),
    projects,
    adminKey: server.adminKey?.reveal(),
  };
}

/** Actor of a change, and the id of its request. Null: not an HTTP request. */
export type ChangedBy = Pick<AuditEntry, 'actor' | 'requestId'>;

/** Changes of keys and projects. @param by for the audit log */
export async function openTenants(
  storage: Storage,
  config: () => Config,
  now: () => UnixMs,
  by: ChangedBy,
): Promise<Tenants> {
  const pepper = await storage.secret('pepper');
  return {
    storage,
    pepper,
    earlierPeppers: await storage.earlierSecrets('pepper'),
    configured: () => configuredTenants(config()),
    now,
    entryOf: (change) => ({ ...change, ...by, id: newId('audit_'), createdAt: now() }),
  };
}

/**
 * Creates the first API key, if there is none and the gateway would be unusable.
 * @returns the key, to be shown once; null: there was one
 */
export async function makeFirstKey(
  storage: Storage,
  keys: Pick<KeyIndex, 'refresh' | 'usableKeys'>,
  config: () => Config,
  now: () => UnixMs,
): Promise<string | null> {
  if (keys.usableKeys(now()) > 0) return null;
  const start = { actor: { id: 'gateway', name: 'first start', address: null }, requestId: null };
  const commands = new KeyCommands(await openTenants(storage, config, now, start));
  try {
    const { key } = await commands.create({ name: 'first' });
    return key;
  } catch (error) {
    // Another gateway that is starting on the same database has created and shown it.
    if (error instanceof GatewayError && error.kind === 'conflict') return null;
    throw error;
  } finally {
    await keys.refresh();
  }
}
