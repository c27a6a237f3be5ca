// Turns: stored responses, and the items that they add to conversations. A turn is written directly, or to the journal first
// and to the tables a moment later. SQLite uses the journal for small turns, PostgreSQL during and after an outage.
import { type Kysely, sql } from 'kysely';
import { GatewayError } from '../../../canonical/index.ts';
import { databaseAway, isAway } from '../../database-away.ts';
import {
  CONVERSATION_COLUMNS,
  CONVERSATION_ITEMS,
  type ConversationRow,
  CONVERSATIONS,
  type ItemRow,
} from './conversation-tables.ts';
import { type Database, firstOf, type Queries, rowsOf } from '../database.ts';
import { inserter } from '../insert.ts';
import { DELETED, RESPONSE_IDS, type ResponseHead, RESPONSES } from './response-table.ts';
import { JOBS } from '../jobs/job-tables.ts';
import { statement } from '../statement.ts';
import type { UsageCounter } from './state-usage.ts';
import type { SchemaOf } from '../table.ts';
import { decodeTurn, encodeTurn, type NewTurn, type Turn, TURN_ENTRY } from './turn-entries.ts';

/** Milliseconds that a request waits until earlier turns are in the database. */
const PATIENCE_MS = 2_000;

/** Operations of a database that may be unreachable. */
export interface RemoteTurns {
  readonly isOutOfReach: () => boolean;
  /**
   * Writes a turn with one statement, together with concurrent ones.
   * @returns false if nothing was written: responses have to be evicted first, or there was a conflict
   */
  readonly writeAtOnce: (turn: NewTurn) => Promise<boolean>;
}

/** An inserted response. */
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
  readonly #db: Kysely<SchemaOf<[typeof RESPONSES, typeof CONVERSATIONS, typeof DELETED, typeof JOBS]>>;
  readonly #insertResponses;
  readonly #insertIds;
  readonly #insertItems;
  /** Number of this process's turns that are only in the journal. PostgreSQL only. */
  #late = 0;
  #arriving: Promise<void> | null = null;

  /** @param remote null: SQLite */
  constructor(database: Database, usage: UsageCounter, remote: RemoteTurns | null) {
    this.#remote = remote;
    this.#database = database;
    this.#usage = usage;
    this.#db = database.on(RESPONSES, CONVERSATIONS, DELETED, JOBS);
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
   * Stores a turn. It is durable when this resolves, in the database or in the journal.
   * @param isLarge true: writing to the journal first would not be faster
   * @throws GatewayError `quota` if it does not fit; `internal` if the journal cannot be written either
   */
  async keep(turn: NewTurn, isLarge: boolean): Promise<void> {
    const { transact } = this.#database;
    const remote = this.#remote;
    if (!remote) {
      if (!isLarge && turn.appendTo === null && (await this.#append(turn))) return;
      return transact(() => this.write(turn));
    }
    // Keeps the order of turns within a conversation.
    if (remote.isOutOfReach() || this.#late > 0) return this.#later(turn);
    try {
      if (!turn.isByJob && (await remote.writeAtOnce(turn))) return;
      await transact(() => this.write(turn));
    } catch (error) {
      // It is unknown whether the database has written it. Writing it again is idempotent.
      if (!isAway(error)) throw error;
      this.#later(turn);
    }
  }

  /**
   * Resolves when all turns stored by this process can be read.
   * @throws GatewayError 503 while the database is unreachable, or is still catching up
   */
  async arrived(): Promise<void> {
    if (this.#late === 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const patience = new Promise<never>((_, reject) => {
      const tooLong = (): void =>
        reject(databaseAway('records that were queued during an outage are being imported'));
      timer = setTimeout(tooLong, PATIENCE_MS);
    });
    try {
      await Promise.race([this.#arrive(), patience]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Writes turns from the journals to the tables. @returns false if there were none */
  async more(): Promise<boolean> {
    if (this.#remote) return false;
    const { indexer } = this.#database;
    const isWaiting = indexer.waitingBytes > 0;
    await indexer.caughtUp();
    return (await indexer.caughtUpWithOthers()) || isWaiting;
  }

  /** Writes a turn, unless its response was deleted. Idempotent. @throws GatewayError `quota` */
  *write(turn: NewTurn): Queries<void> {
    const { projectId, response, appendTo, items, isByJob } = turn;
    if (response && isByJob) {
      const gone = yield* this.#deletedResponses([response.id]);
      if (gone.has(nameOf(projectId, response.id))) return;
    }
    const made = response ? (yield* this.#insert([{ ...turn, response }])).get(response.id) : undefined;
    if (response && made === undefined) return;
    const conversation = appendTo === null ? undefined : yield* this.hold(projectId, appendTo);
    const kept = conversation ? yield* this.append(conversation.row, projectId, items) : 0;
    const bytes = response?.bytes ?? 0;
    if (bytes + kept > 0) yield* this.#usage.claim(projectId, bytes, kept, made);
  }

  /** Finds a conversation of a project, and locks it until the transaction ends. */
  *hold(projectId: string, id: string): Queries<ConversationRow | undefined> {
    return yield* firstOf(this.#holding({ projectId, id }));
  }

  /**
   * Appends new items to a locked conversation.
   * @returns their bytes, which the caller has to count
   */
  *append(conversation: number, projectId: string, items: readonly ItemRow[]): Queries<number> {
    const written = yield* this.#insertItems(items.map((item) => itemRow(conversation, projectId, item)));
    const bytes = written.reduce((sum, row) => sum + row.bytes, 0);
    if (bytes > 0) yield this.#grow({ conversation, bytes });
    return bytes;
  }

  /** Adds bytes to the size of a conversation. */
  *grow(conversation: number, bytes: number): Queries<void> {
    yield this.#grow({ conversation, bytes });
  }

  /** Records a deletion within its transaction. @param ownerId project of the response, or conversation of the item */
  *noteDeleted(ownerId: string, id: string): Queries<void> {
    const at = this.#database.clock();
    yield this.#db
      .insertInto('deleted_of_turns')
      .values({ owner_id: ownerId, id, deleted_at: at })
      .onConflict((conflict) => conflict.columns(['id', 'owner_id']).doUpdateSet({ deleted_at: at }));
  }

  /** Appends a turn to the journal. @returns false if the journal cannot be written @throws GatewayError `quota` */
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
    // Tracks the arrival also without readers. If the database is unreachable, the next turn tries again.
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
   * Writes turns from journals with a few statements. They were already accepted, so other responses are evicted as needed.
   * Existing and deleted ones are skipped.
   */
  *#bringIn(turns: readonly Turn[]): Queries<void> {
    const stored = turns.flatMap((turn) => (turn.response ? [{ ...turn, response: turn.response }] : []));
    const made = yield* this.#insert(stored);
    // Read after the insert, which has waited for concurrent deletions.
    const gone = yield* this.#deletedResponses([...made.keys()]);
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
    // Fixed order, to avoid deadlocks between processes.
    for (const [projectId, { responses, kept }] of [...added].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      if (responses + kept > 0) yield* this.#usage.count(projectId, responses, kept);
  }

  /** Writes the items of turns. @returns bytes by project */
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

  /** Inserts new responses and their index rows. @returns the inserted rows by id */
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

  /**
   * Deleted responses among these ids, as `nameOf`. Waits for concurrent deletions of their jobs, and delays later ones
   * until the transaction ends. So a deletion either finds the response, or prevents it.
   */
  *#deletedResponses(ids: readonly string[]): Queries<ReadonlySet<string>> {
    if (this.#remote && ids.length > 0) yield this.#holdingJobs({ ids });
    return yield* this.#deleted(ids);
  }

  /** Deleted objects among these ids, as `nameOf`. */
  *#deleted(ids: readonly string[]): Queries<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const rows = yield* rowsOf(this.#deletedOf({ ids }));
    return new Set(rows.map(({ owner_id: owner, id }) => nameOf(owner, id)));
  }

  readonly #holding = statement((v: { projectId: string; id: string }) =>
    this.#database.dialect.held(
      this.#db
        .selectFrom('conversations')
        .select(CONVERSATION_COLUMNS)
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

  readonly #holdingJobs = statement((v: { ids: readonly string[] }) =>
    this.#database.dialect.held(
      this.#db
        .selectFrom('jobs')
        .select('row')
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
