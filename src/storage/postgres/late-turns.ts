// Stored responses, and what they add to their conversations: written at once, or, where the database goes away while an answer
// is given, into the journal, from which they are brought in when it is back. A client that has its answer can go on from it then.
import { sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import type { ItemRow } from '../state/item-rows.ts';
import type { ResponseRow } from '../state/response-rows.ts';
import { deletedOf } from './deletions.ts';
import { isAway } from './failures.ts';
import { JoinedTurns } from './joined-turns.ts';
import type { PostgresBase, Tx } from './store.ts';

/** The kind of a turn's entries in journals; those of records have 1. */
const TURN_ENTRY = 2;

/** A turn ready to be written. */
export interface TurnRows {
  readonly projectId: string;
  /** Null for one whose response is not stored. */
  readonly response: ResponseRow | null;
  /** The conversation that gets its items; null for none. */
  readonly appendTo: string | null;
  readonly items: readonly ItemRow[];
}

export class LateTurns {
  readonly #base: Omit<PostgresBase, 'turns'>;
  readonly #joined: JoinedTurns;
  /** Turns that were written to the journal; 0 when all of them have arrived. */
  #late = 0;

  constructor(base: Omit<PostgresBase, 'turns'>) {
    this.#base = base;
    this.#joined = new JoinedTurns(base);
    base.entries.register(TURN_ENTRY, {
      read: readTurn,
      write: async (turns, tx) => {
        for (const turn of turns) await this.#bringIn(tx, turn);
      },
    });
  }

  /**
   * Durable when it resolves: in the database, or in the journal.
   * @throws GatewayError `quota` when there is no room; `internal` when the journal takes nothing either
   */
  async keep(turn: TurnRows): Promise<void> {
    const { breaker, transaction } = this.#base;
    if (breaker.isOpen) return this.#later(turn);
    try {
      await this.arrived();
      const { response } = turn;
      if (response && (await this.#joined.write({ ...turn, response }))) return;
      await transaction((tx) => this.#write(tx, turn));
    } catch (error) {
      // What the database has done of it is not known: to bring it in again changes nothing.
      if (!isAway(error)) throw error;
      this.#later(turn);
    }
  }

  /**
   * Resolves when all that this process has kept is in the database; for reads.
   * @throws GatewayError 503 while the database is out of reach
   */
  async arrived(): Promise<void> {
    const late = this.#late;
    if (late === 0) return;
    await this.#base.indexer.caughtUp();
    if (late === this.#late) this.#late = 0;
  }

  #later(turn: TurnRows): void {
    this.#base.indexer.append(TURN_ENTRY, Buffer.from(JSON.stringify(turn)));
    this.#late += 1;
  }

  /**
   * One that finds no room any more is left out: those behind it must not wait for it. So is what was there already, and was
   * deleted meanwhile.
   */
  async #bringIn(tx: Tx, turn: TurnRows): Promise<void> {
    const { projectId, response } = turn;
    await sql`savepoint turn`.execute(tx);
    try {
      await this.#write(tx, await this.#withoutDeleted(tx, turn));
      // Asked behind the insert, which has waited for whoever deletes it just now.
      const isGone = response && (await deletedOf(tx, projectId, [response.id])).size > 0;
      await sql`${sql.raw(isGone ? 'rollback to' : 'release')} savepoint turn`.execute(tx);
    } catch (error) {
      if (!GatewayError.is(error) || isAway(error)) throw error;
      await sql`rollback to savepoint turn`.execute(tx);
    }
  }

  /** Holds the conversation: nothing more of it is deleted until the commit. */
  async #withoutDeleted(tx: Tx, turn: TurnRows): Promise<TurnRows> {
    const { projectId, appendTo, items } = turn;
    if (appendTo === null || (await this.#base.items.hold(tx, projectId, appendTo)) === undefined)
      return turn;
    const gone = await deletedOf(
      tx,
      appendTo,
      items.flatMap(({ id }) => id ?? []),
    );
    return { ...turn, items: items.filter(({ id }) => id === null || !gone.has(id)) };
  }

  async #write(tx: Tx, { projectId, response, appendTo, items }: TurnRows): Promise<void> {
    const { usage, items: conversations } = this.#base;
    const made = response && (await insert(tx, response));
    if (response && made === null) return;
    const conversation = appendTo === null ? undefined : await conversations.hold(tx, projectId, appendTo);
    const kept =
      conversation === undefined ? 0 : await conversations.write(tx, conversation, projectId, items);
    const bytes = response?.bytes ?? 0;
    if (bytes + kept > 0) await usage.claim(tx, projectId, bytes, kept, made ?? undefined);
  }
}

/** @throws RangeError for what no turn is */
function readTurn(content: Uint8Array): TurnRows {
  try {
    return JSON.parse(Buffer.from(content).toString()) as TurnRows;
  } catch (cause) {
    throw new RangeError('a turn that is no JSON', { cause });
  }
}

/** @returns its number; null where the id is there already. Its bytes are counted by somebody else. */
async function insert(tx: Tx, r: ResponseRow): Promise<number | null> {
  const made = await tx
    .insertInto('responses')
    .values({
      id: r.id,
      key_id: r.projectId,
      created_at: r.createdAt,
      expires_at: r.expiresAt,
      previous_id: r.previousId,
      conversation_id: r.conversationId,
      bytes: r.bytes,
      places: JSON.stringify(r.places),
      response: r.response,
      input: r.input,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('row')
    .executeTakeFirst();
  if (!made) return null;
  await sql`
    insert into response_ids (place, key_id, response_row)
    select place, ${r.projectId}, ${made.row} from unnest(${r.places}::text[]) as p(place)
    on conflict do nothing`.execute(tx);
  return made.row;
}
