// What `dragoman keys create|list|revoke` do, without the command line: data in, data out.
import { randomBytes } from 'node:crypto';
import { GatewayError, type RoutingDefaults } from '../canonical/index.ts';
import type { KeyStore, StoredKey } from '../storage/ports.ts';
import { generateKey, hashKey, keyHint } from './key-format.ts';

export interface NewKey {
  readonly name: string;
  /** Model ids or patterns with `*`; absent or null means all. */
  readonly models?: readonly string[] | null | undefined;
  /** Unix milliseconds; absent or null means never. */
  readonly expiresAt?: number | null | undefined;
  readonly logContent?: boolean | undefined;
  /** Absent or null: as for everybody. */
  readonly strict?: boolean | null | undefined;
  /** Checked already; absent or null: nothing of its own. */
  readonly routing?: RoutingDefaults | null | undefined;
}

/** A stored key as people may see it: without its hash. */
export type KeyView = Omit<StoredKey, 'hash' | 'previous'> & {
  readonly state: 'active' | 'expired' | 'revoked';
};

/**
 * Makes and stores a key.
 * @param pepper `storage.secret('pepper')`
 * @returns `key` is shown once and kept nowhere
 * @throws GatewayError `invalid_request` for an empty name, an empty pattern or a past expiry; `conflict` when an
 * active key has the name, because `revoke` takes names
 */
export async function createKey(
  store: KeyStore,
  pepper: Uint8Array,
  input: NewKey,
  nowMs: number,
): Promise<{ readonly key: string; readonly record: KeyView }> {
  const name = input.name.trim();
  if (name === '') throw new GatewayError('invalid_request', 'a key needs a name', { param: 'name' });
  if (input.models?.some((model) => model.trim() === ''))
    throw new GatewayError('invalid_request', 'a model pattern is empty', { param: 'models' });
  const expiresAt = input.expiresAt ?? null;
  if (expiresAt !== null && !(expiresAt > nowMs)) {
    throw new GatewayError('invalid_request', 'the expiry must be a time in the future', {
      param: 'expiresAt',
    });
  }
  const taken = (await store.list()).some((key) => key.name === name && stateOf(key, nowMs) === 'active');
  if (taken)
    throw new GatewayError(
      'conflict',
      `an active key is already named "${name}": revoke it first, or choose another name`,
      { param: 'name' },
    );
  const key = generateKey();
  const stored: StoredKey = {
    id: `key_${randomBytes(8).toString('hex')}`,
    name,
    hash: hashKey(key, pepper),
    hint: keyHint(key),
    createdAt: nowMs,
    expiresAt,
    revokedAt: null,
    models: input.models ?? null,
    logContent: input.logContent ?? false,
    strict: input.strict ?? null,
    routing: input.routing ?? null,
    projectId: null,
    roles: ['models'],
    limits: [],
    budgets: [],
    previous: null,
    updatedAt: nowMs,
    version: 1,
  };
  await store.insert(stored);
  return { key, record: viewOf(stored, nowMs) };
}

/** Every key, oldest first, revoked ones included. */
export async function listKeys(store: KeyStore, nowMs: number): Promise<readonly KeyView[]> {
  return (await store.list()).map((key) => viewOf(key, nowMs));
}

/**
 * Revokes one key by its id, or by its name when only one unrevoked key has it.
 * @returns the key as it now stands; revoking twice keeps the first time
 * @throws GatewayError `not_found`, or `conflict` when several keys have the name
 */
export async function revokeKey(store: KeyStore, idOrName: string, nowMs: number): Promise<KeyView> {
  const keys = await store.list();
  const named = keys.filter((key) => key.name === idOrName);
  const unrevoked = named.filter((key) => key.revokedAt === null);
  const found = keys.find((key) => key.id === idOrName) ?? unrevoked[0] ?? named[0];
  if (!found) throw new GatewayError('not_found', `there is no key with the id or name "${idOrName}"`);
  if (found.id !== idOrName && unrevoked.length > 1) {
    throw new GatewayError(
      'conflict',
      `several keys are named "${idOrName}": revoke one by its id (${unrevoked.map((key) => key.id).join(', ')})`,
    );
  }
  await store.revoke(found.id, nowMs);
  return viewOf({ ...found, revokedAt: found.revokedAt ?? nowMs }, nowMs);
}

function viewOf(key: StoredKey, nowMs: number): KeyView {
  const { hash: _, previous: _previous, ...shown } = key;
  return { ...shown, state: stateOf(key, nowMs) };
}

function stateOf(key: StoredKey, nowMs: number): KeyView['state'] {
  if (key.revokedAt !== null) return 'revoked';
  return key.expiresAt !== null && key.expiresAt <= nowMs ? 'expired' : 'active';
}
