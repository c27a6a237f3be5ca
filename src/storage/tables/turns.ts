// Turns: stored responses, and the items that they add to conversations. A turn is written at once, or is durable with one write to
// the journal and in its tables a moment later: in SQLite where it is small, in PostgreSQL while the database is away or takes in
// what was written while it was away.
import { type Kysely, sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import { databaseAway, isAway } from '../database-away.ts';
import { CONVERSATION_ITEMS, CONVERSATIONS, type ItemRow } from './conversation-tables.ts';
import { type Database, firstOf, type Queries, rowsOf } from './database.ts';
import { inserter } from './insert.ts';
import { DELETED, RESPONSE_IDS, type ResponseHead, RESPONSES } from './response-table.ts';
import { statement } from './statement.ts';
import type { UsageCounter } from './state-usage.ts';
import type { SchemaOf } from './table.ts';
import { decodeTurn, encodeTurn, type NewTurn, type Turn, TURN_ENTRY } from './turn-entries.ts';

/** Milliseconds that a request waits for earlier turns that are not in the database yet. */
const PATIENCE_MS = 2_000;

/** Further steps of a database that may be out of reach. */
export interface RemoteTurns {
  readonly isOutOfReach: () => boolean;
  /**
   * Writes a turn with one statement, together with others that come at the same time.
   * @returns false where nothing was done: others have to give way, or were in the way
   */
  readonly writeAtOnce: (turn: NewTurn) => Promise<boolean>;
}

/** A response that was inserted. */
interface Made {
  readonly row: number;
  readonly id: string;
}

interface Held {
  readonly row: number;
  readonly id: string;
  readonly key_id: string;
}

export class Turns {
  readonly #database: Database;
  readonly #usage: UsageCounter;
  readonly #remote: RemoteTurns | null;
  readonly #db: Kysely<SchemaOf<[typeof RESPONSES, typeof CONVERSATIONS, typeof DELETED]>>;
  readonly #insertResponses;
  readonly #insertIds;
  readonly #insertItems;
  /** Turns of this process that are on their way through the journal; 0 when all of them arrived. PostgreSQL only. */
  #late = 0;
  #arriving: Promise<void> | null = null;

  /** @param remote null: the database is a file of this machine */
  constructor(database: Database, usage: UsageCounter, remote: RemoteTurns | null) {
    this.#remote = remote;
    this.#database = database;
    this.#usage = usage;
    this.#db = database.on(RESPONSES, CONVERSATIONS, DELETED);
    this.#insertResponses = inserter<Made>(database, RESPONSES, {
      conflict: { on: ['id'] },
      returning: ['row', 'id'],
    });
    this.#insertIds = inserter(database, RESPONSE_IDS, { conflict: { on: RESPONSE_IDS.key } });
    this.#insertItems = inserter<{ readonly conversation_row: number; readonly bytes: number }>(
      database,
      CONVERSATION_ITEMS,
      {
        conflict: { on: ['key_id', 'item_id', 'conversation_row'] },
        returning: ['conversation_row', 'bytes'],
      },
    );
    database.onEntries(TURN_ENTRY, { read: decodeTurn, write: (turns) => this.#bringIn(turns) });
  }

  /**
   * Keeps a turn: durable when it resolves, in the database or in the journal.
   * @param isLarge true: the journal is no faster
   * @throws GatewayError `quota` when there is no room; `internal` when the journal takes nothing either
   */
  async keep(turn: NewTurn, isLarge: boolean): Promise<void> {
    const { transact } = this.#database;
    const remote = this.#remote;
    if (!remote) {
      if (!isLarge && turn.appendTo === null && (await this.#append(turn))) return;
      return transact(() => this.write(turn));
    }
    // A turn follows those of before: a conversation keeps their order.
    if (remote.isOutOfReach() || this.#late > 0) return this.#later(turn);
    try {
      if (await remote.writeAtOnce(turn)) return;
      await transact(() => this.write(turn));
    } catch (error) {
      // Nobody knows what the database has done of it: to bring it in again changes nothing.
      if (!isAway(error)) throw error;
      this.#later(turn);
    }
  }

  /**
   * Resolves when all that this process has kept can be read; for reads.
   * @throws GatewayError 503 while the database is out of reach, or takes in what was written meanwhile
   */
  async arrived(): Promise<void> {
    if (this.#late === 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const patience = new Promise<never>((_, reject) => {
      const tooLong = (): void => reject(databaseAway('it takes in what was written while it was away'));
      timer = setTimeout(tooLong, PATIENCE_MS);
    });
    try {
      await Promise.race([this.#arrive(), patience]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Brings in what journals hold. @returns false when a read would find what it found before */
  async more(): Promise<boolean> {
    if (this.#remote) return false;
    const { indexer } = this.#database;
    const isWaiting = indexer.waitingBytes > 0;
    await indexer.caughtUp();
    return (await indexer.caughtUpWithOthers()) || isWaiting;
  }

  /** Writes a turn. What is there already changes nothing. @throws GatewayError `quota` */
  *write(turn: NewTurn): Queries<void> {
    const { projectId, response, appendTo, items } = turn;
    const made = response ? (yield* this.#insert([{ ...turn, response }])).get(response.id) : undefined;
    if (response && made === undefined) return;
    const conversation = appendTo === null ? undefined : yield* this.hold(projectId, appendTo);
    const kept = conversation === undefined ? 0 : yield* this.append(conversation, projectId, items);
    const bytes = response?.bytes ?? 0;
    if (bytes + kept > 0) yield* this.#usage.claim(projectId, bytes, kept, made);
  }

  /** The row of a conversation of a project, held until the transaction ends. */
  *hold(projectId: string, id: string): Queries<number | undefined> {
    return (yield* firstOf(this.#holding({ projectId, id })))?.row;
  }

  /**
   * Appends items that are not there to a conversation that is held.
   * @returns bytes that they count for, which the caller claims
   */
  *append(conversation: number, projectId: string, items: readonly ItemRow[]): Queries<number> {
    const written = yield* this.#insertItems(items.map((item) => itemRow(conversation, projectId, item)));
    const bytes = written.reduce((sum, row) => sum + row.bytes, 0);
    if (bytes > 0) yield this.#grow({ conversation, bytes });
    return bytes;
  }

  /** Counts bytes of a conversation. */
  *grow(conversation: number, bytes: number): Queries<void> {
    yield this.#grow({ conversation, bytes });
  }

  /** Notes a deletion in its transaction. @param ownerId project of a response, or conversation of an item */
  *noteDeleted(ownerId: string, id: string): Queries<void> {
    const { dialect, now } = this.#database;
    const at = dialect.nowMs(now());
    yield this.#db
      .insertInto('deleted_of_turns')
      .values({ owner_id: ownerId, id, deleted_at: at })
      .onConflict((conflict) => conflict.columns(['id', 'owner_id']).doUpdateSet({ deleted_at: at }));
  }

  /** @returns false when the journal takes nothing; the database may still. @throws GatewayError `quota` */
  async #append(turn: NewTurn): Promise<boolean> {
    const refusal = await this.#usage.refusalOf(turn.projectId, turn.response?.bytes ?? 0);
    if (refusal) throw refusal;
    try {
      this.#database.indexer.append(TURN_ENTRY, encodeTurn(turn));
      return true;
    } catch (error) {
      if (GatewayError.is(error)) return false;
      throw error;
    }
  }

  #later(turn: NewTurn): void {
    this.#database.indexer.append(TURN_ENTRY, encodeTurn(turn));
    this.#late += 1;
    // Arrival is noted even where nobody reads. A database that is away is asked by the next turn.
    this.#arrive().catch(() => {});
  }

  #arrive(): Promise<void> {
    this.#arriving ??= (async () => {
      const late = this.#late;
      await this.#database.indexer.caughtUp();
      if (late === this.#late) this.#late = 0;
    })().finally(() => (this.#arriving = null));
    return this.#arriving;
  }

  /**
   * Turns of journals, all of them with a few statements. They had room when they came: others of their project give way. What was
   * there already, or was deleted meanwhile, is left out.
   */
  *#bringIn(turns: readonly Turn[]): Queries<void> {
    const stored = turns.flatMap((turn) => (turn.response ? [{ ...turn, response: turn.response }] : []));
    const made = yield* this.#insert(stored);
    // This query follows the insert, which has waited for whoever deletes one just now.
    const gone = yield* this.#deleted([...made.keys()]);
    const going: ResponseHead[] = [];
    for (const { projectId, response } of stored) {
      const row = made.get(response.id);
      if (row === undefined || !gone.has(nameOf(projectId, response.id))) continue;
      going.push({ row, key_id: projectId, bytes: response.bytes });
      made.delete(response.id);
    }
    yield* this.#usage.deleteResponses(going);
    const arriving = turns.filter(({ response }) => response === null || made.has(response.id));
    const added = new Map<string, { responses: number; kept: number }>();
    const addedTo = (projectId: string): { responses: number; kept: number } => {
      const sums = added.get(projectId) ?? { responses: 0, kept: 0 };
      added.set(projectId, sums);
      return sums;
    };
    for (const { projectId, response } of arriving)
      if (response && made.delete(response.id)) addedTo(projectId).responses += response.bytes;
    for (const [projectId, kept] of yield* this.#bringInItems(arriving)) addedTo(projectId).kept += kept;
    // One order keeps two processes from waiting for each other.
    for (const [projectId, { responses, kept }] of [...added].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      if (responses + kept > 0) yield* this.#usage.count(projectId, responses, kept);
  }

  /** @returns bytes by project */
  *#bringInItems(turns: readonly Turn[]): Queries<ReadonlyMap<string, number>> {
    const bytes = new Map<string, number>();
    const ids = new Set(turns.flatMap(({ appendTo }) => appendTo ?? []));
    if (ids.size === 0) return bytes;
    const held = new Map<string, Held>();
    for (const row of yield* rowsOf(this.#holdingAll({ ids: [...ids] }))) held.set(row.id, row);
    const itemIds = turns.flatMap(({ items }) => items.flatMap(({ id }) => id ?? []));
    const gone = yield* this.#deleted(itemIds);
    const rows = turns.flatMap(({ projectId, appendTo, items }) => {
      const conversation = held.get(appendTo ?? '');
      if (conversation?.key_id !== projectId) return [];
      const left = items.filter(({ id }) => id === null || !gone.has(nameOf(conversation.id, id)));
      return left.map((item) => itemRow(conversation.row, projectId, item));
    });
    const grown = new Map<number, number>();
    for (const { conversation_row: row, bytes: more } of yield* this.#insertItems(rows))
      grown.set(row, (grown.get(row) ?? 0) + more);
    for (const { row, key_id: projectId } of held.values()) {
      const more = grown.get(row) ?? 0;
      if (more === 0) continue;
      yield this.#grow({ conversation: row, bytes: more });
      bytes.set(projectId, (bytes.get(projectId) ?? 0) + more);
    }
    return bytes;
  }

  /** Inserts responses that are not there, and lists their ids. @returns the rows of new ones by their ids */
  *#insert(
    turns: readonly (Turn & { readonly response: NonNullable<Turn['response']> })[],
  ): Queries<Map<string, number>> {
    const made = new Map<string, number>();
    if (turns.length === 0) return made;
    const rows = turns.map(({ response: r, projectId }) => ({
      id: r.id,
      key_id: projectId,
      created_at: r.createdAt,
      expires_at: r.expiresAt,
      previous_id: r.previousId,
      conversation_id: r.conversationId,
      bytes: r.bytes,
      places: JSON.stringify(r.places),
      response: r.response,
      input: r.input,
    }));
    for (const { id, row } of yield* this.#insertResponses(rows)) made.set(id, row);
    yield* this.#insertIds(
      turns.flatMap(({ response, projectId }) => {
        const row = made.get(response.id);
        return row === undefined
          ? []
          : response.places.map((place) => ({ place, key_id: projectId, response_row: row }));
      }),
    );
    return made;
  }

  /** Deleted things with one of some ids, as `nameOf`. */
  *#deleted(ids: readonly string[]): Queries<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const rows = yield* rowsOf(this.#deletedOf({ ids }));
    return new Set(rows.map(({ owner_id: owner, id }) => nameOf(owner, id)));
  }

  readonly #holding = statement((v: { projectId: string; id: string }) =>
    this.#database.dialect.held(
      this.#db
        .selectFrom('conversations')
        .select('row')
        .where('id', '=', v.id)
        .where('key_id', '=', v.projectId),
    ),
  );

  readonly #holdingAll = statement((v: { ids: readonly string[] }) =>
    this.#database.dialect.held(
      this.#db
        .selectFrom('conversations')
        .select(['row', 'id', 'key_id'])
        .where(this.#database.dialect.among('id', v.ids))
        .orderBy('row'),
    ),
  );

  readonly #deletedOf = statement((v: { ids: readonly string[] }) =>
    this.#db
      .selectFrom('deleted_of_turns')
      .select(['owner_id', 'id'])
      .where(this.#database.dialect.among('id', v.ids)),
  );

  readonly #grow = statement((v: { conversation: number; bytes: number }) =>
    this.#db
      .updateTable('conversations')
      .set({ bytes: sql`bytes + ${v.bytes}` })
      .where('row', '=', v.conversation),
  );
}

function itemRow(conversation: number, projectId: string, { id, bytes, text }: Turn['items'][number]) {
  return { conversation_row: conversation, key_id: projectId, item_id: id, bytes, item: text };
}

function nameOf(ownerId: string, id: string): string {
  return `${ownerId} ${id}`;
}
