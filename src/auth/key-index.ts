// Answers "whose key is this?" from memory: the database is read at start and after changes, never per request,
// so that a full or locked database cannot turn into refused requests.
import { GatewayError, toWishes, type KeyRole, type RoutingWishes } from '../canonical/index.ts';
import type { LimitEntry } from '../limits/index.ts';
import type { KeyStore, StoredKey } from '../storage/ports.ts';
import { hashKey, isMistyped, keyHint } from './key-format.ts';
import type { Principal } from './principal.ts';
import { compileNamePatterns } from '../lib/name-patterns.ts';

/** A key given in clear by the configuration or the environment. */
export interface ConfiguredKey {
  /** Default: made of its hash. */
  readonly id?: string | undefined;
  readonly name: string;
  readonly key: string;
  readonly models?: readonly string[] | null | undefined;
  /** Unix milliseconds; null or absent: never. */
  readonly expiresAt?: number | null | undefined;
  readonly logContent?: boolean | undefined;
  readonly strict?: boolean | null | undefined;
  readonly routing?: RoutingWishes | null | undefined;
  readonly project?: string | null | undefined;
  readonly roles?: readonly KeyRole[] | null | undefined;
  readonly limits?: readonly LimitEntry[] | undefined;
  readonly budgets?: readonly LimitEntry[] | undefined;
}

interface Entry {
  readonly principal: Principal;
  readonly revokedAt: number | null;
}

const USUAL_ROLES: readonly KeyRole[] = ['models'];

export interface KeyIndexOptions {
  readonly store: KeyStore;
  /** 32 bytes: `storage.secret('pepper')`. */
  readonly pepper: Uint8Array;
  readonly configured: readonly ConfiguredKey[];
  /** Called when keys were read, and others may hold now. */
  readonly onRead?: (() => void) | undefined;
}

/** Call `refresh` once before use, and `watch` to follow changes made by other processes. */
export class KeyIndex {
  readonly #store: KeyStore;
  readonly #pepper: Uint8Array;
  readonly #onRead: (() => void) | undefined;
  #configured: readonly ConfiguredKey[];
  #byHash: ReadonlyMap<string, Entry> = new Map();
  /** Keys that were good, in clear: spares a hash per request. Holds one text per valid key, never a bad one. */
  #known = new Map<string, Entry>();
  #version: string | null = null;

  constructor(options: KeyIndexOptions) {
    this.#store = options.store;
    this.#pepper = options.pepper;
    this.#configured = options.configured;
    this.#onRead = options.onRead;
  }

  /** Replaces the keys of the configuration; takes effect with the next `refresh`. */
  configure(configured: readonly ConfiguredKey[]): void {
    this.#configured = configured;
    this.#version = null;
  }

  /** Reads the store again if it may have changed. True when it was read. */
  async refresh(): Promise<boolean> {
    // Asked before reading: a change in between is seen by the next refresh.
    const version = await this.#store.version();
    if (version === this.#version) return false;
    const stored = await this.#store.list();
    const byHash = new Map<string, Entry>();
    for (const key of stored) byHash.set(key.hash, entryOf(key));
    for (const key of this.#configured) {
      if (key.key === '') continue;
      const hash = hashKey(key.key, this.#pepper);
      byHash.set(hash, configuredEntry(key, hash));
    }
    this.#byHash = byHash;
    this.#known = new Map();
    this.#version = version;
    this.#onRead?.();
    return true;
  }

  /**
   * Refreshes every so often, so that a key revoked by the command line is refused within two seconds.
   * @param onError told when the store cannot be read; the keys read last stay in force
   * @param timer starts a repeating timer and returns what stops it
   * @returns stops watching
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

  /** Everybody whose key has not been revoked. */
  *principals(): Iterable<Principal> {
    for (const { principal, revokedAt } of this.#byHash.values()) if (revokedAt === null) yield principal;
  }

  /** How many keys may call models at a time: zero means that nobody can. */
  usableKeys(nowMs: number): number {
    let count = 0;
    for (const entry of this.#byHash.values())
      if (entry.principal.roles.includes('models') && refusal(entry, nowMs) === null) count += 1;
    return count;
  }

  /**
   * Who presents this key?
   * @param presented as `presentedKey` found it; null when there was none
   * @throws GatewayError `authentication` with code `invalid_api_key`, saying which of the four reasons it is
   */
  authenticate(presented: string | null, nowMs: number): Principal {
    if (presented === null) {
      throw refused(
        'No API key was sent. Send it as `Authorization: Bearer <key>` (or `x-api-key`, or `x-goog-api-key`); `dragoman keys create` makes one.',
      );
    }
    let entry = this.#known.get(presented);
    if (!entry) {
      entry = this.#byHash.get(hashKey(presented, this.#pepper));
      if (!entry) throw refused(unknownKey(presented));
      this.#known.set(presented, entry);
    }
    const reason = refusal(entry, nowMs);
    if (reason !== null) throw refused(reason);
    return entry.principal;
  }
}

export type RepeatingTimer = (task: () => void, intervalMs: number) => () => void;

/** Does not keep the process alive. */
function repeat(task: () => void, intervalMs: number): () => void {
  const timer = setInterval(task, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * The key in a request's headers: `Authorization: Bearer`, `x-api-key` or `x-goog-api-key`, the first that is there.
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

function entryOf(key: StoredKey): Entry {
  return {
    principal: {
      keyId: key.id,
      projectId: key.projectId ?? key.id,
      roles: key.roles,
      name: key.name,
      expiresAt: key.expiresAt,
      mayUse: compileNamePatterns(key.models),
      logContent: key.logContent,
      strict: key.strict,
      limits: entriesOf(key),
      routing: key.routing && toWishes(key.routing, 'key.routing'),
    },
    revokedAt: key.revokedAt,
  };
}

/** A configured key's id comes from its hash: the same key is the same tenant after a restart and under a new name. */
function configuredEntry(key: ConfiguredKey, hash: string): Entry {
  const keyId = key.id ?? `key_${hash.slice(0, 20)}`;
  return {
    principal: {
      keyId,
      projectId: key.project ?? keyId,
      roles: key.roles ?? USUAL_ROLES,
      name: key.name,
      expiresAt: key.expiresAt ?? null,
      mayUse: compileNamePatterns(key.models ?? null),
      logContent: key.logContent ?? false,
      strict: key.strict ?? null,
      limits: entriesOf(key),
      routing: key.routing ?? null,
    },
    revokedAt: null,
  };
}

const NO_LIMITS: readonly LimitEntry[] = [];

function entriesOf({
  limits = NO_LIMITS,
  budgets = NO_LIMITS,
}: ConfiguredKey | StoredKey): readonly LimitEntry[] {
  if (budgets.length === 0) return limits.length === 0 ? NO_LIMITS : limits;
  return [...limits, ...budgets];
}

function refusal(entry: Entry, nowMs: number): string | null {
  const { principal, revokedAt } = entry;
  if (revokedAt !== null) return `The API key "${principal.name}" has been revoked.`;
  if (principal.expiresAt !== null && principal.expiresAt <= nowMs) {
    return `The API key "${principal.name}" expired on ${new Date(principal.expiresAt).toISOString()}.`;
  }
  return null;
}

function unknownKey(presented: string): string {
  const hint = keyHint(presented);
  if (isMistyped(presented))
    return `The API key ${hint} is incomplete or mistyped: its checksum does not fit. Copy it again.`;
  return `The API key ${hint} is not known here. \`dragoman keys list\` shows the keys of this gateway.`;
}

function refused(message: string): GatewayError {
  return new GatewayError('authentication', message, { code: 'invalid_api_key' });
}
