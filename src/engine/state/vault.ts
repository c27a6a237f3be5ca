// Stores the reasoning of turns with tool calls, encrypted, and restores it when a client lost it. Models refuse tool
// results, or get worse, without the reasoning that led to the call, and most Chat Completions clients drop it.
import { isAssistantItem, type Item } from '../../canonical/index.ts';
import type { SealedTurn, VaultStore } from '../../accounts/ports/index.ts';
import { rebuildTurn } from './rebuild-turn.ts';
import { openWithAny, seal } from './seal.ts';
import {
  answerText,
  callKey,
  CallPlaces,
  endKey,
  recordEnd,
  recordTurn,
  type TurnRecord,
} from './turn-record.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

export interface VaultOptions {
  /** Time for which a turn can be restored. */
  readonly ttlMs: DurationMs;
  readonly now: () => UnixMs;
  /** Previous keys. */
  readonly earlierKeys?: readonly Uint8Array[] | undefined;
}

export interface Restored {
  readonly items: readonly Item[];
  /** Number of reasoning items that came from the vault. */
  readonly restored: number;
}

/** Maximum calls looked up per request, newest first; far more than fit a context window. */
const MOST_CALLS = 2_000;
/** Maximum bytes of a turn's record, because a copy is stored for each call. */
const MOST_BYTES = 4 << 20;

/** True for a turn that a later request may need: it called a tool, and its reasoning has a known format. */
export function pickForVault(items: readonly Item[]): boolean {
  let called = false;
  let reasoned = false;
  for (const item of items) {
    if (item.type === 'tool_call') called = true;
    else if (item.type === 'reasoning' && (item.opaque !== undefined || item.format !== undefined))
      reasoned = true;
  }
  return called && reasoned;
}

export class Vault {
  readonly #store: VaultStore;
  readonly #key: Uint8Array;
  readonly #options: VaultOptions;

  /** @param key 32 bytes: `storage.secret('vault')` */
  constructor(store: VaultStore, key: Uint8Array, options: VaultOptions) {
    this.#store = store;
    this.#key = key;
    this.#options = options;
  }

  /**
   * Stores a turn under each of its calls, if needed (`pickForVault`).
   * @param projectId the tenant
   * @param items all items of one answer, in order
   * @param before the preceding conversation, for clients that may not return call ids
   */
  async remember(projectId: string, items: readonly Item[], before?: readonly Item[]): Promise<void> {
    if (!pickForVault(items)) return;
    const turns = new Map<string, SealedTurn>();
    this.#sealTurn(projectId, recordTurn(items), turns);
    if (before) {
      const places = new CallPlaces();
      for (const item of before) places.pass(item);
      const named = new Map<Item, string>();
      for (const item of items) {
        if (item.type === 'tool_call') named.set(item, places.key(item));
        places.pass(item);
      }
      this.#sealTurn(
        projectId,
        recordTurn(items, (call) => named.get(call) ?? ''),
        turns,
      );
    }
    await this.#store.put([...turns.values()]);
  }

  /**
   * Stores trailing reasoning without text of a turn without calls, by the turn's text, because the client does not
   * receive it (`endsInAnswer`).
   */
  async rememberEnd(projectId: string, items: readonly Item[]): Promise<void> {
    const found = recordEnd(items);
    if (!found) return;
    const turns = new Map<string, SealedTurn>();
    this.#sealUnder([found.key], projectId, found.turn, turns);
    await this.#store.put([...turns.values()]);
  }

  #sealTurn(projectId: string, turn: TurnRecord, turns: Map<string, SealedTurn>): void {
    const keys = turn.entries.flatMap((entry) => (entry.type === 'call' ? [entry.key] : []));
    this.#sealUnder(keys, projectId, turn, turns);
  }

  #sealUnder(
    keys: readonly string[],
    projectId: string,
    turn: TurnRecord,
    turns: Map<string, SealedTurn>,
  ): void {
    const text = new TextEncoder().encode(JSON.stringify(turn));
    if (text.length > MOST_BYTES) return;
    const expiresAt = this.#options.now() + this.#options.ttlMs;
    for (const key of keys) {
      if (turns.has(key)) continue;
      const sealed = seal(this.#key, text, boundTo(projectId, key));
      turns.set(key, { projectId, callId: key, sealed, expiresAt });
    }
  }

  /**
   * Restores lost reasoning, and moves misplaced reasoning back. Turns with unknown calls are unchanged. Returns the
   * same array when nothing changes.
   * @param hasEnds true: also looks up turns without calls, stored by `rememberEnd`
   */
  async restore(projectId: string, items: readonly Item[], hasEnds = false): Promise<Restored> {
    const keys = new Map<Item, string>();
    for (let i = items.length - 1; i >= 0 && keys.size < MOST_CALLS; i--) {
      const item = items[i];
      if (item?.type === 'tool_call') keys.set(item, item.isIdMade ? '' : callKey(item));
    }
    nameByPlace(items, keys);
    if (hasEnds) nameEnds(items, keys);
    if (keys.size === 0) return { items, restored: 0 };
    const sealed = await this.#store.get(projectId, [...new Set(keys.values())], this.#options.now());
    const turns = this.#openAll(projectId, sealed);
    return turns.size === 0 ? { items, restored: 0 } : restoreStretches(items, keys, turns);
  }

  /** Opened turns by call. Copies of one turn become one object. */
  #openAll(projectId: string, sealed: ReadonlyMap<string, Uint8Array>): Map<string, TurnRecord> {
    const byId = new Map<string, TurnRecord>();
    const byCall = new Map<string, TurnRecord>();
    for (const [callId, bytes] of sealed) {
      const text = openWithAny(
        [this.#key, ...(this.#options.earlierKeys ?? [])],
        bytes,
        boundTo(projectId, callId),
      );
      // A record that cannot be opened (another server's key, damage) is ignored.
      if (!text) continue;
      const turn = JSON.parse(new TextDecoder().decode(text)) as TurnRecord;
      const first = byId.get(turn.id) ?? turn;
      byId.set(turn.id, first);
      byCall.set(callId, first);
    }
    return byCall;
  }
}

/** Adds position keys for calls whose ids were generated here, because these ids differ in the next turn. */
function nameByPlace(items: readonly Item[], keys: Map<Item, string>): void {
  if (!items.some((item) => item.type === 'tool_call' && item.isIdMade)) return;
  const places = new CallPlaces();
  for (const item of items) {
    if (item.type === 'tool_call' && keys.get(item) === '') keys.set(item, places.key(item));
    places.pass(item);
  }
}

/** Adds keys for the last message of each turn without calls, by the turn's text, newest first. */
function nameEnds(items: readonly Item[], keys: Map<Item, string>): void {
  let turn: Item[] = [];
  for (let at = items.length - 1; at >= -1 && keys.size < MOST_CALLS; at--) {
    const item = items[at];
    if (item && isAssistantItem(item)) {
      turn.unshift(item);
      continue;
    }
    const last = turn.findLast(({ type }) => type === 'message');
    const text = last && turn.every(({ type }) => type !== 'tool_call') ? answerText(turn) : '';
    if (last && text !== '') keys.set(last, endKey(text));
    turn = [];
  }
}

function boundTo(projectId: string, callId: string): string {
  return JSON.stringify(['vault', projectId, callId]);
}

function restoreStretches(
  items: readonly Item[],
  keys: ReadonlyMap<Item, string>,
  turns: ReadonlyMap<string, TurnRecord>,
): Restored {
  const out: Item[] = [];
  const given = new Map<TurnRecord, Set<number>>();
  let restored = 0;
  for (const { stretch, turn } of stretches(items, keys, turns)) {
    if (!turn) {
      for (const item of stretch) out.push(item);
      continue;
    }
    let seen = given.get(turn);
    if (!seen) given.set(turn, (seen = new Set()));
    const rebuilt = rebuildTurn(stretch, keys, turn, seen);
    restored += rebuilt.restored;
    for (const item of rebuilt.items) out.push(item);
  }
  const changed = out.length !== items.length || out.some((item, i) => item !== items[i]);
  return changed ? { items: out, restored } : { items, restored: 0 };
}

interface Stretch {
  readonly stretch: Item[];
  /** The recorded turn that contains its calls. Null: none. */
  readonly turn: TurnRecord | null;
}

/**
 * Splits the conversation at every item that is not the assistant's, and after the last call of a recorded turn if
 * calls of another turn follow directly.
 */
function stretches(
  items: readonly Item[],
  keys: ReadonlyMap<Item, string>,
  turns: ReadonlyMap<string, TurnRecord>,
): Stretch[] {
  const found: Stretch[] = [];
  let stretch: Item[] = [];
  let turn: TurnRecord | null = null;
  /** Number of items in the stretch up to its last known call. */
  let upToCall = 0;
  for (const item of items) {
    if (!isAssistantItem(item)) {
      found.push({ stretch, turn }, { stretch: [item], turn: null });
      stretch = [];
      turn = null;
      continue;
    }
    const key = keys.get(item);
    const next = key === undefined ? undefined : turns.get(key);
    if (next && turn && next !== turn) {
      found.push({ stretch: stretch.slice(0, upToCall), turn });
      stretch = stretch.slice(upToCall);
    }
    stretch.push(item);
    if (next) {
      turn = next;
      upToCall = stretch.length;
    }
  }
  found.push({ stretch, turn });
  return found;
}
