// Finds the key in a request's headers and authenticates it from memory. The database is read at the start and after changes,
// but never per request. So a full or locked database does not lead to refused requests.
import { GatewayError, type KeyRole } from '../../canonical/index.ts';
import type { LimitEntry, Owner } from '../limits/index.ts';
import type { Storage } from '../ports/index.ts';
import { configuredEntries, type ConfiguredTenants } from './configured.ts';
import { configuredEntry, storedEntry, type KeyEntry } from './key-entry.ts';
import { hashKey, isMistyped, keyHint, KEY_PREFIX } from './key-format.ts';
import { KnownProjects } from './known-projects.ts';
import type { Principal } from './principal.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

export interface KeyIndexOptions {
  readonly storage: Pick<Storage, 'keys' | 'projects'>;
  /** 32 bytes: `storage.secret('pepper')`. */
  readonly pepper: Uint8Array;
  /** Earlier peppers. Keys that were hashed with them remain valid. */
  readonly earlierPeppers?: readonly Uint8Array[] | undefined;
  readonly configured: ConfiguredTenants;
  /** Called with the owners whose keys or projects changed. Not called for the first read. */
  readonly onChange?: ((changed: readonly Owner[]) => void) | undefined;
}

const NO_ENTRIES: readonly LimitEntry[] = [];
/** Milliseconds between two reads for unknown keys, so that guessed keys cannot cause more of them. */
const LOOK_MS = 100;

/** Call `refresh` once before use, and `watch` to follow changes by other processes. */
export class KeyIndex {
  readonly #options: KeyIndexOptions;
  readonly #projects: KnownProjects;
  readonly #byHash = new Map<string, KeyEntry>();
  readonly #byId = new Map<string, KeyEntry>();
  /** Keys of the configuration, by hash and by id. They have precedence over stored ones, unless `yields` is set. */
  #configured: ReadonlyMap<string, KeyEntry> = new Map();
  #configuredById: ReadonlyMap<string, KeyEntry> = new Map();
  /** Valid keys in plain text, to avoid a hash per request. Holds one text per valid key, and no invalid ones. */
  readonly #known = new Map<string, KeyEntry>();
  /** Latest read for an unknown key, and when it began. */
  #look: { readonly done: Promise<unknown>; readonly at: UnixMs } | null = null;
  /** Version up to which the store was read; null: not yet. */
  #mark: number | null = null;

  constructor(options: KeyIndexOptions) {
    this.#options = options;
    this.#projects = new KnownProjects(options.storage.projects);
    this.#take(options.configured);
  }

  /** Replaces the configured keys and projects. */
  configure(configured: ConfiguredTenants): void {
    this.#take(configured);
  }

  /** Reads changes from the store. @returns true if there were any */
  async refresh(): Promise<boolean> {
    const isFirst = this.#mark === null;
    const projects = await this.#projects.refresh();
    const changed = await this.#readKeys();
    if (!isFirst && projects.length === 0 && changed.length === 0) return false;
    this.#known.clear();
    if (isFirst) return true;
    this.#options.onChange?.([
      ...projects.map((name): Owner => ({ kind: 'project', id: name, name })),
      ...changed.map(({ keyId, name }): Owner => ({ kind: 'key', id: keyId, name })),
    ]);
    return true;
  }

  /**
   * Refreshes periodically, so that a key revoked by the command line is refused within two seconds.
   * @param onError called if the store cannot be read; the keys read last remain valid
   * @param timer starts a repeating timer and returns a function that stops it
   * @returns a function that stops watching
   */
  watch(onError: (error: unknown) => void, intervalMs = 1_000, timer: RepeatingTimer = repeat): () => void {
    let running = false;
    return timer(() => {
      if (running) return;
      running = true;
      this.refresh()
        .catch(onError)
        .finally(() => (running = false));
    }, intervalMs);
  }

  /** Number of keys that may call models at a time. */
  usableKeys(nowMs: UnixMs): number {
    let count = 0;
    for (const entries of [this.#configured, this.#byHash])
      for (const entry of entries.values())
        if (entry.principal.roles.includes('models') && this.#refusal(entry, nowMs) === null) count += 1;
    return count;
  }

  /**
   * Authenticates a presented key.
   * @param presented result of `presentedKey`; null: none
   * @throws GatewayError `authentication` with code `invalid_api_key` and the reason
   */
  authenticate(presented: string | null, nowMs: UnixMs): Principal {
    if (presented === null) {
      throw refused(
        'No API key was sent. Send it as `Authorization: Bearer <key>` (or `x-api-key`, or `x-goog-api-key`). Create one with `dragoman keys create NAME`.',
      );
    }
    let entry = this.#known.get(presented);
    if (!entry) {
      entry = this.#find(presented);
      if (!entry) throw refused(unknownKey(presented));
      this.#known.set(presented, entry);
    }
    const reason = this.#refusal(entry, nowMs);
    if (reason !== null) throw refused(reason);
    return entry.principal;
  }

  /**
   * Reads changes from the store for an unknown key, which may have been created a moment ago.
   * @returns null if nothing is read: the key is known, cannot be a stored one, or another read has just begun
   */
  lookFor(presented: string | null, nowMs: UnixMs): Promise<unknown> | null {
    if (presented === null || this.#known.has(presented) || !presented.startsWith(KEY_PREFIX)) return null;
    if (isMistyped(presented) || this.#find(presented)) return null;
    if (this.#look && Math.abs(nowMs - this.#look.at) < LOOK_MS) return this.#look.done;
    // If the store is unreachable, the key counts as unknown.
    this.#look = { done: this.refresh().catch(() => false), at: nowMs };
    return this.#look.done;
  }

  /** Authenticates by key id, for jobs. @throws GatewayError `conflict` if the key is no longer valid */
  keyById(keyId: string, nowMs: UnixMs): Principal {
    const entry = this.#configuredById.get(keyId) ?? this.#byId.get(keyId);
    const reason = entry ? this.#refusal(entry, nowMs) : 'The key no longer exists.';
    if (entry && reason === null) return withRole(entry.principal, 'models');
    throw new GatewayError('conflict', `The job cannot run with its key. ${reason}`);
  }

  #find(presented: string): KeyEntry | undefined {
    const { pepper, earlierPeppers = [] } = this.#options;
    for (const each of [pepper, ...earlierPeppers]) {
      const hash = hashKey(presented, each);
      const [configured, stored] = [this.#configured.get(hash), this.#byHash.get(hash)];
      const entry = configured?.yields ? (stored ?? configured) : (configured ?? stored);
      if (entry) return entry;
    }
    return undefined;
  }

  /** Limits of an active key; empty if there are none. */
  limitsOf(keyId: string): readonly LimitEntry[] {
    const entry = this.#configuredById.get(keyId) ?? this.#byId.get(keyId);
    return entry && entry.revokedAt === null ? entry.principal.limits : NO_ENTRIES;
  }

  /** Principals of all keys that are not revoked. */
  *principals(): Generator<Principal> {
    for (const entries of [this.#configured, this.#byId])
      for (const { principal, revokedAt } of entries.values()) if (revokedAt === null) yield principal;
  }

  /** Projects of the configuration and of the database. */
  get projects(): Pick<KnownProjects, 'limitsOf' | 'names'> {
    return this.#projects;
  }

  #take(configured: ConfiguredTenants): void {
    this.#projects.configure(configured);
    const entries = configuredEntries(configured, this.#options.pepper, this.#options.earlierPeppers).map(
      configuredEntry,
    );
    this.#configured = new Map(entries.map((entry) => [entry.hash, entry]));
    this.#configuredById = new Map(entries.map((entry) => [entry.principal.keyId, entry]));
    this.#known.clear();
  }

  /** @returns the principals whose keys changed; none on the first read */
  async #readKeys(): Promise<readonly Principal[]> {
    const { keys } = this.#options.storage;
    // Read before the keys, so that a change in between is found by the next refresh.
    const mark = await keys.mark();
    if (mark === this.#mark) return [];
    const changed: Principal[] = [];
    if (this.#mark === null) {
      for await (const some of keys.all()) for (const key of some) this.#put(storedEntry(key));
    } else for (const key of await keys.changedSince(this.#mark)) changed.push(this.#put(storedEntry(key)));
    this.#mark = mark;
    return changed;
  }

  #put(entry: KeyEntry): Principal {
    const { keyId } = entry.principal;
    for (let old = this.#byId.get(keyId); old; old = old.previous ?? undefined) this.#byHash.delete(old.hash);
    for (let one: KeyEntry | null = entry; one; one = one.previous) this.#byHash.set(one.hash, one);
    this.#byId.set(keyId, entry);
    return entry.principal;
  }

  #refusal({ principal, revokedAt, goodUntil }: KeyEntry, nowMs: UnixMs): string | null {
    const { name, expiresAt, keyId, projectId } = principal;
    if (revokedAt !== null) return `The API key "${name}" has been revoked.`;
    if (expiresAt !== null && expiresAt <= nowMs)
      return `The API key "${name}" expired on ${new Date(expiresAt).toISOString()}.`;
    if (goodUntil !== null && goodUntil <= nowMs)
      return `The API key "${name}" has been rotated. Its previous secret was valid until ${new Date(goodUntil).toISOString()}.`;
    const reason = projectId === keyId ? null : this.#projects.refusal(projectId);
    return reason && `The API key "${name}" cannot be used: ${reason}.`;
  }
}

export type RepeatingTimer = (task: () => void, intervalMs: DurationMs) => () => void;

/** The timer does not keep the process alive. */
function repeat(task: () => void, intervalMs: DurationMs): () => void {
  const timer = setInterval(task, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

function unknownKey(presented: string): string {
  const hint = keyHint(presented);
  if (isMistyped(presented))
    return `The API key ${hint} is incomplete or mistyped (wrong checksum). Copy it again.`;
  return `The API key ${hint} is unknown. List the keys of this gateway with \`dragoman keys list\`.`;
}

function refused(message: string): GatewayError {
  return new GatewayError('authentication', message, { code: 'invalid_api_key' });
}

/** Messages for a key that lacks a role. */
const REFUSALS: Readonly<Record<KeyRole, string>> = {
  models: 'cannot call models. Give it the role `models`, or use another key',
  admin: 'cannot manage this gateway. Use a key with the role `admin`, or `server.admin_key`',
};

/**
 * Returns the principal if it has the role.
 * @throws GatewayError `permission` with code `permission_denied`
 */
export function withRole(principal: Principal, role: KeyRole): Principal {
  if (principal.roles.includes(role)) return principal;
  throw new GatewayError('permission', `The API key "${principal.name}" ${REFUSALS[role]}.`, {
    code: 'permission_denied',
  });
}

/**
 * Key in the headers of a request: the first of `Authorization: Bearer`, `x-api-key` and `x-goog-api-key`.
 * @param header reads a header by lower-case name
 */
export function presentedKey(header: (name: string) => string | null): string | null {
  const authorization = header('authorization');
  if (
    authorization !== null &&
    authorization.length > 7 &&
    authorization.slice(0, 7).toLowerCase() === 'bearer '
  ) {
    const key = authorization.slice(7).trim();
    if (key !== '') return key;
  }
  return header('x-api-key')?.trim() || header('x-goog-api-key')?.trim() || null;
}
