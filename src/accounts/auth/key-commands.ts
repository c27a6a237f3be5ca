// Commands on keys, for the command line and the management API.
import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../../base/json/index.ts';
import {
  GatewayError,
  ON_DISCONNECT,
  ON_DISCONNECT_HINT,
  problemOfModelName as problemOfName,
} from '../../canonical/index.ts';
import type { KeyChange, KeyFilter, PageRequest, StoredKey } from '../ports/index.ts';
import { checkLimits } from './check-limits.ts';
import { configuredEntries, definedInFile, type ConfiguredEntry } from './configured.ts';
import { generateKey, hashKey, keyHint } from './key-format.ts';
import { configuredView, stateOf, storedView, type KeyView } from './key-view.ts';
import { keyJson } from './tenant-json.ts';
import type { ChangeCondition, Tenants } from './tenants.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Settings of a key other than its name. Absent members have defaults. */
export type KeySettings = Pick<
  KeyChange,
  | 'expiresAt'
  | 'models'
  | 'logContent'
  | 'strict'
  | 'onDisconnect'
  | 'routing'
  | 'roles'
  | 'limits'
  | 'budgets'
>;

export interface NewKey extends KeySettings {
  readonly name: string;
  /** Name of its project; null or absent: the key is its own project. Cannot be changed later. */
  readonly projectId?: string | null | undefined;
}

/** A new key with its secret, which is shown once and not stored. */
export interface MadeKey {
  readonly key: string;
  readonly record: KeyView;
}

export class KeyCommands {
  readonly #tenants: Tenants;

  constructor(tenants: Tenants) {
    this.#tenants = tenants;
  }

  /**
   * Creates and stores a key.
   * @throws GatewayError `invalid_request` for invalid settings; `not_found` for an unknown project; `conflict` for an
   * archived project, or if an active key has the name
   */
  async create({ name: given, projectId = null, ...settings }: NewKey): Promise<MadeKey> {
    const { storage, pepper, now } = this.#tenants;
    const nowMs = now();
    const name = this.#checked({ name: given, ...settings }).name ?? '';
    await this.#refuseTaken(name, null);
    if (projectId !== null) await this.#refuseProject(projectId);
    const key = generateKey();
    const stored: StoredKey = {
      id: `key_${randomBytes(8).toString('hex')}`,
      name,
      hash: hashKey(key, pepper),
      hint: keyHint(key),
      createdAt: nowMs,
      updatedAt: nowMs,
      version: 1,
      revokedAt: null,
      previous: null,
      projectId,
      expiresAt: settings.expiresAt ?? null,
      models: settings.models ?? null,
      logContent: settings.logContent ?? null,
      strict: settings.strict ?? null,
      onDisconnect: settings.onDisconnect ?? null,
      routing: settings.routing ?? null,
      roles: settings.roles ?? ['models'],
      limits: settings.limits ?? [],
      budgets: settings.budgets ?? [],
    };
    const record = storedView(stored, nowMs);
    const change = { action: 'key.create', target: stored.id, before: null, after: keyJson(record) };
    // Checked again inside the transaction, because another process may create one at the same time.
    const isFree = (sameName: readonly StoredKey[]): boolean => activeAmong(sameName, nowMs).length === 0;
    if (!(await storage.keys.insert(stored, this.#tenants.entryOf(change), isFree))) throw nameTaken(name);
    return { key, record };
  }

  /** Stored keys in order of creation, including revoked ones. @throws GatewayError for an unknown `after` */
  async list(page: PageRequest & KeyFilter): Promise<{ entries: readonly KeyView[]; hasMore: boolean }> {
    const { keys, hasMore } = await this.#tenants.storage.keys.list(page);
    const nowMs = this.#tenants.now();
    return { entries: keys.map((key) => storedView(key, nowMs)), hasMore };
  }

  /** Keys of the configuration file. */
  configured(): readonly KeyView[] {
    const nowMs = this.#tenants.now();
    return this.#entries().map((entry) => configuredView(entry, nowMs));
  }

  /**
   * Finds a key by id, or by name if exactly one active key has it.
   * @throws GatewayError `not_found`, or `conflict` if several keys have the name
   */
  async find(idOrName: string): Promise<KeyView> {
    const inFile = this.#inFile(idOrName);
    const nowMs = this.#tenants.now();
    if (inFile) return configuredView(inFile, nowMs);
    return storedView(await this.#stored(idOrName), nowMs);
  }

  /**
   * Changes the settings of a key.
   * @throws GatewayError as `find` and `create`, and `conflict` for a key of the configuration file, a revoked key, or
   * another version
   */
  async change(
    idOrName: string,
    change: KeySettings & { readonly name?: string | undefined },
    condition: ChangeCondition = {},
  ): Promise<KeyView> {
    const key = await this.#changeable(idOrName);
    const checked = this.#checked(change);
    if (checked.name !== undefined && checked.name !== key.name)
      await this.#refuseTaken(checked.name, key.id);
    return this.#update('change', key, checked, condition);
  }

  /**
   * Replaces the secret of a key. Its id, settings and data stay.
   * @param graceMs milliseconds for which the previous secret remains valid; 0: it ends now
   * @throws GatewayError as `change`
   */
  async rotate(idOrName: string, graceMs: DurationMs, condition: ChangeCondition = {}): Promise<MadeKey> {
    const key = await this.#changeable(idOrName);
    if (!(graceMs >= 0))
      throw new GatewayError('invalid_request', 'grace: must not be negative', { param: 'grace' });
    const secret = generateKey();
    const previous = graceMs > 0 ? { hash: key.hash, until: this.#tenants.now() + graceMs } : null;
    const changed = { hash: hashKey(secret, this.#tenants.pepper), hint: keyHint(secret), previous };
    // The previous hash must be that of this version, so that one of two concurrent rotations fails.
    const record = await this.#update('rotate', key, changed, {
      ifVersion: condition.ifVersion ?? key.version,
    });
    return { key: secret, record };
  }

  /**
   * Revokes a key. Revoking it again does not change the time.
   * @throws GatewayError as `find`, and `conflict` for a key of the configuration file or of another version
   */
  async revoke(idOrName: string, condition: ChangeCondition = {}): Promise<KeyView> {
    const key = await this.#own(idOrName);
    const nowMs = this.#tenants.now();
    if (key.revokedAt !== null) return storedView(key, nowMs);
    return this.#update('revoke', key, { revokedAt: nowMs }, condition);
  }

  async #update(
    action: string,
    key: StoredKey,
    change: KeyChange,
    { ifVersion }: ChangeCondition,
  ): Promise<KeyView> {
    const { now, entryOf, storage } = this.#tenants;
    const atMs = now();
    const jsonOf = (stored: StoredKey): JsonObject => keyJson(storedView(stored, atMs));
    const target = key.id;
    const changed = await storage.keys.update(target, change, { atMs, ifVersion }, (before, after) =>
      entryOf({ action: `key.${action}`, target, before: jsonOf(before), after: jsonOf(after) }),
    );
    if (!changed) throw unknown(target);
    return storedView(changed, atMs);
  }

  async #changeable(idOrName: string): Promise<StoredKey> {
    const key = await this.#own(idOrName);
    if (key.revokedAt === null) return key;
    throw new GatewayError(
      'conflict',
      `The key ${key.id} ("${key.name}") has been revoked. Create a new one.`,
    );
  }

  /** Finds a key of the database. */
  #own(idOrName: string): Promise<StoredKey> {
    if (this.#inFile(idOrName)) throw definedInFile(`The key "${idOrName}"`);
    return this.#stored(idOrName);
  }

  async #stored(idOrName: string): Promise<StoredKey> {
    const { keys } = this.#tenants.storage;
    const byId = await keys.find(idOrName);
    if (byId) return byId;
    const named = await keys.named(idOrName);
    const unrevoked = named.filter((key) => key.revokedAt === null);
    const found = unrevoked[0] ?? named[0];
    if (!found) throw unknown(idOrName);
    if (unrevoked.length > 1)
      throw new GatewayError(
        'conflict',
        `Several keys are named "${idOrName}". Use an id (${unrevoked.map((key) => key.id).join(', ')}).`,
      );
    return found;
  }

  #inFile(idOrName: string): ConfiguredEntry | undefined {
    const entries = this.#entries();
    return entries.find(({ id }) => id === idOrName) ?? entries.find(({ name }) => name === idOrName);
  }

  #entries(): readonly ConfiguredEntry[] {
    const { configured, pepper, earlierPeppers } = this.#tenants;
    return configuredEntries(configured(), pepper, earlierPeppers);
  }

  /** Validates settings, and trims the name. */
  #checked<Given extends KeySettings & { readonly name?: string | undefined }>(settings: Given): Given {
    const { models, expiresAt, onDisconnect, roles } = settings;
    const name = settings.name?.trim();
    if (name === '') throw new GatewayError('invalid_request', 'name: must not be empty', { param: 'name' });
    const problem = name === undefined ? null : problemOfName(name);
    if (problem !== null) throw new GatewayError('invalid_request', `name: ${problem}`, { param: 'name' });
    if (models?.some((model) => model.trim() === ''))
      throw new GatewayError('invalid_request', 'models: must not contain an empty pattern', {
        param: 'models',
      });
    if (typeof expiresAt === 'number' && !(expiresAt > this.#tenants.now()))
      throw new GatewayError('invalid_request', 'expires_at: must be in the future', {
        param: 'expires_at',
      });
    if (typeof onDisconnect === 'string' && !ON_DISCONNECT.test(onDisconnect))
      throw new GatewayError('invalid_request', `on_disconnect: ${ON_DISCONNECT_HINT}`, {
        param: 'on_disconnect',
      });
    if (roles?.length === 0)
      throw new GatewayError('invalid_request', 'roles: must not be empty', { param: 'roles' });
    checkLimits(settings);
    return name === undefined ? settings : { ...settings, name };
  }

  async #refuseTaken(name: string, ownId: string | null): Promise<void> {
    const nowMs = this.#tenants.now();
    const active = activeAmong(await this.#tenants.storage.keys.named(name), nowMs);
    if (active.every(({ id }) => id === ownId) && !this.#inFile(name)) return;
    throw nameTaken(name);
  }

  async #refuseProject(name: string): Promise<void> {
    const { configured, storage } = this.#tenants;
    if (Object.hasOwn(configured().projects ?? {}, name)) return;
    const project = await storage.projects.find(name);
    if (!project)
      throw new GatewayError(
        'not_found',
        `Project "${name.slice(0, 100)}" not found. Create it with \`dragoman projects create NAME\`.`,
        { param: 'project' },
      );
    if (project.archivedAt !== null)
      throw new GatewayError('conflict', `The project "${name}" has been archived. Choose another one.`, {
        param: 'project',
      });
  }
}

function unknown(idOrName: string): GatewayError {
  return new GatewayError('not_found', `No key has the id or name "${idOrName.slice(0, 100)}".`);
}

function activeAmong(keys: readonly StoredKey[], nowMs: UnixMs): readonly StoredKey[] {
  return keys.filter((key) => stateOf(key, nowMs) === 'active');
}

function nameTaken(name: string): GatewayError {
  return new GatewayError(
    'conflict',
    `An active key named "${name}" already exists. Revoke it first, or choose another name.`,
    { param: 'name' },
  );
}
