// Recorded bodies of requests, one row each. The oldest are evicted. Written after the answer, without delaying it.
import { type Kysely, sql } from 'kysely';
import { PAYLOAD_STAGES, type StoredPayload } from '../../../accounts/ports/index.ts';
import type { PayloadStore } from '../../../accounts/ports/index.ts';
import { firstIdAt, textId } from '../../record-ids.ts';
import { type Database, firstOf, type Queries, rowsOf, type Store } from '../database.ts';
import { inserter } from '../insert.ts';
import { statement } from '../statement.ts';
import { type SchemaOf, table } from '../table.ts';
import type { UnixMs } from '../../../base/units.ts';

const PAYLOADS = table({
  name: 'payloads',
  columns: {
    /** Generation id, which begins with the time. */
    generation_id: 'id',
    /** Ordinal of the attempt; `NO_ATTEMPT`: not part of an attempt. */
    attempt: 'small',
    /** Index in the list of stages. Stored, so that the list's order must not change. */
    stage: 'small',
    /** Size of head and body. */
    bytes: 'number',
    head: 'text',
    body: 'bytes',
  },
  key: ['generation_id', 'attempt', 'stage'],
  // Bodies are already compressed.
  extras: { postgres: ['alter table payloads alter column body set storage external'] },
});

/** Number less than those of all attempts. */
const NO_ATTEMPT = -1;
/** Id greater than those of all requests. */
const AFTER_ALL_IDS = 'g';
/** Requests that are evicted per step. */
const EVICTED_PER_STEP = 20;

class Payloads implements PayloadStore {
  readonly #database: Database;
  readonly #db: Kysely<SchemaOf<[typeof PAYLOADS]>>;
  readonly #insert;
  /** Bytes of all payloads; undefined: not read yet. Those of other processes are included at the next purge. */
  #bytes: number | undefined;

  constructor(database: Database) {
    this.#database = database;
    this.#db = database.on(PAYLOADS);
    this.#insert = inserter<{ readonly bytes: number }>(database, PAYLOADS, {
      conflict: { on: PAYLOADS.key },
      returning: ['bytes'],
    });
  }

  async put(generationId: string, payloads: readonly StoredPayload[], maxBytes: number): Promise<void> {
    if (payloads.length === 0) return;
    const rows = payloads.map(({ stage, attempt, head, body }) => ({
      generation_id: generationId,
      attempt: attempt ?? NO_ATTEMPT,
      stage: PAYLOAD_STAGES.indexOf(stage),
      bytes: head.length + body.length,
      head,
      body,
    }));
    await this.#changing(
      function* (this: Payloads, held: number): Queries<number> {
        const added = yield* this.#insert(rows);
        const all = added.reduce((sum, { bytes }) => sum + bytes, held);
        if (all <= maxBytes) return all;
        return (yield* this.#forget(all, AFTER_ALL_IDS, (left) => left > maxBytes)).held;
      }.bind(this),
    );
  }

  async find(generationId: string): Promise<readonly StoredPayload[]> {
    const rows = await this.#database.read(this.#of({ generationId }));
    return rows.flatMap(({ attempt, stage, head, body }) => {
      const name = PAYLOAD_STAGES[stage];
      // Copied, because buffers of the PostgreSQL driver are views of its socket reads.
      const bytes = new Uint8Array(body);
      return name
        ? [{ stage: name, attempt: attempt === NO_ATTEMPT ? null : attempt, head, body: bytes }]
        : [];
    });
  }

  async purge(beforeMs: UnixMs): Promise<number> {
    let forgotten = 0;
    await this.#changing(
      function* (this: Payloads, held: number): Queries<number> {
        const left = yield* this.#forget(held, textId(firstIdAt(beforeMs)), () => true);
        forgotten = left.forgotten;
        return left.held;
      }.bind(this),
    );
    if (forgotten === 0) this.#bytes = undefined;
    return forgotten;
  }

  /** Runs a change with the total size of all payloads, and stores the new total. */
  async #changing(change: (held: number) => Queries<number>): Promise<void> {
    const { transact } = this.#database;
    const total = this.#total;
    const known = this.#bytes;
    this.#bytes = await transact(function* () {
      const held = known ?? Number((yield* firstOf(total({})))?.bytes ?? 0);
      return yield* change(held);
    });
  }

  /** Evicts some of the oldest requests before an id. @param goesOn called before each with the total size */
  *#forget(
    from: number,
    end: string,
    goesOn: (bytes: number) => boolean,
  ): Queries<{ readonly held: number; readonly forgotten: number }> {
    let held = from;
    let forgotten = 0;
    for (const { generation_id: id, bytes } of yield* rowsOf(this.#oldest({ end }))) {
      if (!goesOn(held)) break;
      yield this.#remove({ id });
      held -= Number(bytes);
      forgotten += 1;
    }
    return { held, forgotten };
  }

  readonly #of = statement((v: { generationId: string }) =>
    this.#db
      .selectFrom('payloads')
      .select(['attempt', 'stage', 'head', 'body'])
      .where('generation_id', '=', v.generationId)
      .orderBy('attempt')
      .orderBy('stage'),
  );

  readonly #total = statement(() => this.#db.selectFrom('payloads').select(sumOfBytes));

  readonly #oldest = statement((v: { end: string }) =>
    this.#db
      .selectFrom('payloads')
      .select(['generation_id', sumOfBytes])
      .where('generation_id', '<', v.end)
      .groupBy('generation_id')
      .orderBy('generation_id')
      .limit(EVICTED_PER_STEP),
  );

  readonly #remove = statement((v: { id: string }) =>
    this.#db.deleteFrom('payloads').where('generation_id', '=', v.id),
  );
}

const sumOfBytes = sql<number>`cast(coalesce(sum(bytes), 0) as bigint)`.as('bytes');

export const payloads: Store<PayloadStore> = {
  tables: [PAYLOADS],
  open: (database) => new Payloads(database),
};
