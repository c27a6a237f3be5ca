// Keeps the reasoning of turns with tool calls, encrypted, and gives it back when a client lost it. Models refuse
// or degrade when a tool result comes back without the reasoning that led to the call, and most clients of Chat
// Completions drop it. Knows the canonical items only: no protocol, provider or database.
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
  /** How long a turn can be restored. */
  readonly ttlMs: DurationMs;
  readonly now: () => UnixMs;
  /** Keys that turns were sealed with before. */
  readonly earlierKeys?: readonly Uint8Array[] | undefined;
}

export interface Restored {
  readonly items: readonly Item[];
  /** Reasoning items that came from the vault. */
  readonly restored: number;
}

/** Calls looked up per request, the newest first: far more than a context window holds. */
const MOST_CALLS = 2_000;
/** Bytes of a turn's record; a larger one is not worth a copy per call. */
const MOST_BYTES = 4 << 20;

/** True for a turn that a later request may need back: it called a tool, and its reasoning has an owner. */
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
   * Keeps a turn under each of its calls, if it is worth it (`pickForVault`).
   * @param projectId the tenant
   * @param items everything of one answer, in order
   * @param before the conversation that it answers, for clients that may give its calls back without their ids
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
   * Keeps the reasoning without words that ends a turn without calls, under the words of the turn: the client does not
   * get it (`endsInAnswer`).
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
   * Puts lost reasoning back into a conversation, and reasoning that the client moved back into its place. Turns
   * whose calls are unknown stay untouched; the array itself is returned when nothing changes.
   * @param hasEnds true: turns without calls are looked up as well, for what `rememberEnd` keeps
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

  /** The turns by call. Copies of one turn become one object. */
  #openAll(projectId: string, sealed: ReadonlyMap<string, Uint8Array>): Map<string, TurnRecord> {
    const byId = new Map<string, TurnRecord>();
    const byCall = new Map<string, TurnRecord>();
    for (const [callId, bytes] of sealed) {
      const text = openWithAny(
        [this.#key, ...(this.#options.earlierKeys ?? [])],
        bytes,
        boundTo(projectId, callId),
      );
      // A note that cannot be opened (another server's key, damage) is as good as forgotten.
      if (!text) continue;
      const turn = JSON.parse(new TextDecoder().decode(text)) as TurnRecord;
      const first = byId.get(turn.id) ?? turn;
      byId.set(turn.id, first);
      byCall.set(callId, first);
    }
    return byCall;
  }
}

/** Names the calls whose ids were made here: they are another's in the next turn. */
function nameByPlace(items: readonly Item[], keys: Map<Item, string>): void {
  if (!items.some((item) => item.type === 'tool_call' && item.isIdMade)) return;
  const places = new CallPlaces();
  for (const item of items) {
    if (item.type === 'tool_call' && keys.get(item) === '') keys.set(item, places.key(item));
    places.pass(item);
  }
}

/** Names the last message of each turn that called nothing by the words of the turn; the newest turns first. */
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
  /** The recorded turn whose calls it holds; null when it holds none. */
  readonly turn: TurnRecord | null;
}

/**
 * Divides the conversation at every item that is not the assistant's, and behind the last call of a recorded turn
 * when another one's calls follow without a result between them.
 */
function stretches(
  items: readonly Item[],
  keys: ReadonlyMap<Item, string>,
  turns: ReadonlyMap<string, TurnRecord>,
): Stretch[] {
  const found: Stretch[] = [];
  let stretch: Item[] = [];
  let turn: TurnRecord | null = null;
  /** Items of the stretch up to its last known call. */
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
