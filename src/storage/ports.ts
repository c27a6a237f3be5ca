// What the rest of Dragoman asks of a database. Implementations live beside this file; only main and the
// command line choose one.
import type { RoutingDefaults } from '../canonical/index.ts';
import type { AttemptRecord, GenerationRecord } from '../ledger/index.ts';

export interface LedgerStore {
  /**
   * Writes a generation and its attempts. Calls made in one tick are written in one transaction. The promise
   * resolves when the records survive the death of the process; the last byte of the answer waits for it.
   * Writing an id again changes nothing.
   */
  append(generation: GenerationRecord, attempts: readonly AttemptRecord[]): Promise<void>;
  /** A generation of one key, with its attempts in order; null when there is none for this key. */
  find(
    id: string,
    keyId: string,
  ): Promise<{ generation: GenerationRecord; attempts: readonly AttemptRecord[] } | null>;
}

export interface StoredKey {
  readonly id: string;
  readonly name: string;
  /** HMAC-SHA-256 of the whole key under the server's pepper, hex. */
  readonly hash: string;
  /** First and last characters, to recognise it by. */
  readonly hint: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** Model ids or patterns with `*` that this key may use; null means all. */
  readonly models: readonly string[] | null;
  /** True: prompts and answers of this key are kept in the records. */
  readonly logContent: boolean;
  /** What holds when its requests say nothing about routing; null: as for everybody. */
  readonly routing: RoutingDefaults | null;
}

export interface KeyStore {
  insert(key: StoredKey): Promise<void>;
  list(): Promise<readonly StoredKey[]>;
  /** False when there is no such key. Revoking twice keeps the first time. */
  revoke(id: string, atMs: number): Promise<boolean>;
  /** Changes when keys may have changed, also by another process. Cheap enough to ask every second. */
  version(): Promise<string>;
}

export interface SealedTurn {
  readonly keyId: string;
  /** Id of a tool call of the turn. */
  readonly callId: string;
  /** Encrypted with the server's key. */
  readonly sealed: Uint8Array;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

export interface VaultStore {
  put(turns: readonly SealedTurn[]): Promise<void>;
  /** The turns of one key by tool-call id; expired ones are not returned. */
  get(keyId: string, callIds: readonly string[], nowMs: number): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Deletes expired turns, a bounded number at a time. Returns how many. */
  purge(nowMs: number): Promise<number>;
}

export interface Storage {
  readonly ledger: LedgerStore;
  readonly keys: KeyStore;
  readonly vault: VaultStore;
  /** A named secret of this installation, made on first use (pepper, vault key): 32 bytes. */
  secret(name: string): Promise<Uint8Array>;
  close(): Promise<void>;
}
