// Entry of the key index: principal, expiry and limits of one secret.
import { toWishes, type KeyRole } from '../../canonical/index.ts';
import { compileNamePatterns } from '../../base/lib/name-patterns.ts';
import type { LimitEntry } from '../limits/index.ts';
import type { StoredKey } from '../ports/index.ts';
import type { ConfiguredEntry } from './configured.ts';
import type { Principal } from './principal.ts';
import type { UnixMs } from '../../base/units.ts';

/** One secret of a key. */
export interface KeyEntry {
  readonly principal: Principal;
  readonly hash: string;
  readonly revokedAt: UnixMs | null;
  /** Time at which a replaced secret expires; null: it expires with its key. */
  readonly goodUntil: UnixMs | null;
  /** Entry of the secret before the last rotation. */
  readonly previous: KeyEntry | null;
  /** True: a stored key with the same secret has precedence, because this entry has no settings (`DRAGOMAN_KEY`). */
  readonly yields: boolean;
}

const USUAL_ROLES: readonly KeyRole[] = ['models'];
type Entries = readonly LimitEntry[];
const NO_ENTRIES: Entries = [];

/** Compiled allow-lists, shared by keys with the same list. */
const compiled = new WeakMap<readonly string[], (model: string) => boolean>();
const mayUseAll = compileNamePatterns(null);

function mayUse(models: readonly string[] | null): (model: string) => boolean {
  if (models === null) return mayUseAll;
  let patterns = compiled.get(models);
  if (!patterns) compiled.set(models, (patterns = compileNamePatterns(models)));
  return patterns;
}

export function storedEntry(key: StoredKey): KeyEntry {
  const principal: Principal = {
    keyId: key.id,
    projectId: key.projectId ?? key.id,
    roles: key.roles,
    name: key.name,
    expiresAt: key.expiresAt,
    mayUse: mayUse(key.models),
    logContent: key.logContent,
    strict: key.strict,
    onDisconnect: key.onDisconnect,
    limits: allLimits(key.limits, key.budgets),
    routing: key.routing && toWishes(key.routing, 'key.routing'),
  };
  const { hash, revokedAt, previous } = key;
  const entry = { principal, hash, revokedAt, goodUntil: null, previous: null, yields: false };
  if (!previous) return entry;
  return { ...entry, previous: { ...entry, hash: previous.hash, goodUntil: previous.until } };
}

export function configuredEntry(key: ConfiguredEntry): KeyEntry {
  const principal: Principal = {
    keyId: key.id,
    projectId: key.project ?? key.id,
    roles: key.roles ?? USUAL_ROLES,
    name: key.name,
    expiresAt: key.expiresAt ?? null,
    mayUse: mayUse(key.models ?? null),
    logContent: key.logContent ?? null,
    strict: key.strict ?? null,
    onDisconnect: key.onDisconnect ?? null,
    limits: allLimits(key.limits ?? NO_ENTRIES, key.budgets ?? NO_ENTRIES),
    routing: key.routing ?? null,
  };
  return {
    principal,
    hash: key.hash,
    revokedAt: null,
    goodUntil: null,
    previous: null,
    yields: setsNothing(principal),
  };
}

/** True for a key without settings other than its name. */
function setsNothing(principal: Principal): boolean {
  const {
    keyId,
    projectId,
    roles,
    expiresAt,
    mayUse: models,
    logContent,
    strict,
    onDisconnect,
    limits,
    routing,
  } = principal;
  const settings = [expiresAt, logContent, strict, onDisconnect, routing];
  return (
    settings.every((setting) => setting === null) &&
    limits.length === 0 &&
    projectId === keyId &&
    models === mayUseAll &&
    roles.every((role) => USUAL_ROLES.includes(role))
  );
}

/** Joins limits and budgets. */
export function allLimits(limits: Entries, budgets: Entries): Entries {
  if (budgets.length === 0) return limits;
  return limits.length === 0 ? budgets : [...limits, ...budgets];
}
