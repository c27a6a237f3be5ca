// Public view of a key, without its hash.
import type { RoutingWishes } from '../../canonical/index.ts';
import type { StoredKey } from '../ports/index.ts';
import type { ConfiguredEntry } from './configured.ts';
import { keyHint } from './key-format.ts';
import type { Source } from './tenants.ts';
import type { UnixMs } from '../../base/units.ts';

export interface KeyView extends Omit<
  StoredKey,
  'hash' | 'previous' | 'createdAt' | 'updatedAt' | 'version' | 'routing'
> {
  /** Unix milliseconds. `createdAt`, `updatedAt` and `version` are null for keys of the configuration file. */
  readonly createdAt: UnixMs | null;
  readonly updatedAt: UnixMs | null;
  readonly version: number | null;
  /** Preferences as configured (stored keys), or in parsed form (keys of the file). */
  readonly routing: StoredKey['routing'] | RoutingWishes;
  /** Time until which the previous secret remains valid; null: it is not. */
  readonly previousUntil: UnixMs | null;
  readonly state: 'active' | 'expired' | 'revoked';
  readonly source: Source;
}

export function storedView(key: StoredKey, nowMs: UnixMs): KeyView {
  const { hash: _, previous, ...shown } = key;
  const previousUntil = previous && previous.until > nowMs ? previous.until : null;
  return { ...shown, previousUntil, state: stateOf(key, nowMs), source: 'database' };
}

export function configuredView(entry: ConfiguredEntry, nowMs: UnixMs): KeyView {
  const { id, name, key, models = null, logContent = null, strict = null, routing = null } = entry;
  const { onDisconnect = null } = entry;
  const expiresAt = entry.expiresAt ?? null;
  return {
    id,
    name,
    hint: keyHint(key),
    createdAt: null,
    updatedAt: null,
    version: null,
    expiresAt,
    revokedAt: null,
    models,
    logContent,
    strict,
    onDisconnect,
    routing,
    projectId: entry.project ?? null,
    roles: entry.roles ?? ['models'],
    limits: entry.limits ?? [],
    budgets: entry.budgets ?? [],
    previousUntil: null,
    state: stateOf({ expiresAt, revokedAt: null }, nowMs),
    source: 'file',
  };
}

export function stateOf(
  { revokedAt, expiresAt }: Pick<StoredKey, 'revokedAt' | 'expiresAt'>,
  nowMs: UnixMs,
): KeyView['state'] {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= nowMs ? 'expired' : 'active';
}
