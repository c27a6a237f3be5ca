// Recorded bodies of requests, one row each. The oldest are evicted. Written after the answer, without delaying it.
import { sql } from 'kysely';
import { PAYLOAD_STAGES, type PayloadStore } from '../../../accounts/ports/index.ts';
import { firstIdAt, textId } from '../../record-ids.ts';
import { type Database, firstOf, type Queries, rowsOf, type Store } from '../database.ts';
import { inserter } from '../insert.ts';
import { statement } from '../statement.ts';
import { table } from '../table.ts';

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

function openPayloads(database: Database): PayloadStore {
  const { on, transact, read } = database;
  const db = on(PAYLOADS);
  const insert = inserter<{ readonly bytes: number }>(database, PAYLOADS, {
    conflict: { on: PAYLOADS.key },
    returning: ['bytes'],
  });
  const oldest = statement((v: { end: string }) =>
    db
      .selectFrom('payloads')
      .select(['generation_id', sumOfBytes])
      .where('generation_id', '<', v.end)
      .groupBy('generation_id')
      .orderBy('generation_id')
      .limit(EVICTED_PER_STEP),
  );
  const remove = statement((v: { id: string }) =>
    db.deleteFrom('payloads').where('generation_id', '=', v.id),
  );
  /** Bytes of all payloads; undefined: not read yet. Those of other processes are included at the next purge. */
  let total: number | undefined;

  /** Runs a change with the total size of all payloads, and stores the new total. */
  async function changing(change: (held: number) => Queries<number>): Promise<void> {
    const known = total;
    total = await transact(function* () {
      const held = known ?? (yield* firstOf(db.selectFrom('payloads').select(sumOfBytes)))?.bytes ?? 0;
      return yield* change(held);
    });
  }

  /** Evicts some of the oldest requests before an id. @param goesOn called before each with the total size */
  function* forget(
    from: number,
    end: string,
    goesOn: (bytes: number) => boolean,
  ): Queries<{ readonly held: number; readonly forgotten: number }> {
    let held = from;
    let forgotten = 0;
    for (const { generation_id: id, bytes } of yield* rowsOf(oldest({ end }))) {
      if (!goesOn(held)) break;
      yield remove({ id });
      held -= bytes;
      forgotten += 1;
    }
    return { held, forgotten };
  }

  return {
    async put(generationId, payloads, maxBytes) {
      if (payloads.length === 0) return;
      const rows = payloads.map(({ stage, attempt, head, body }) => ({
        generation_id: generationId,
        attempt: attempt ?? NO_ATTEMPT,
        stage: PAYLOAD_STAGES.indexOf(stage),
        bytes: head.length + body.length,
        head,
        body,
      }));
      await changing(function* (held) {
        const added = yield* insert(rows);
        const all = added.reduce((sum, { bytes }) => sum + bytes, held);
        if (all <= maxBytes) return all;
        return (yield* forget(all, AFTER_ALL_IDS, (left) => left > maxBytes)).held;
      });
    },
    async find(generationId) {
      const found = db
        .selectFrom('payloads')
        .select(['attempt', 'stage', 'head', 'body'])
        .where('generation_id', '=', generationId);
      const rows = await read(found.orderBy('attempt').orderBy('stage'));
      return rows.flatMap(({ attempt, stage, head, body }) => {
        const name = PAYLOAD_STAGES[stage];
        // Copied, because buffers of the PostgreSQL driver are views of its socket reads.
        const bytes = new Uint8Array(body);
        return name
          ? [{ stage: name, attempt: attempt === NO_ATTEMPT ? null : attempt, head, body: bytes }]
          : [];
      });
    },
    async purge(beforeMs) {
      let forgotten = 0;
      await changing(function* (held) {
        const left = yield* forget(held, textId(firstIdAt(beforeMs)), () => true);
        forgotten = left.forgotten;
        return left.held;
      });
      if (forgotten === 0) total = undefined;
      return forgotten;
    },
  };
}

const sumOfBytes = sql<number>`cast(coalesce(sum(bytes), 0) as bigint)`.as('bytes');

export const payloads: Store<PayloadStore> = { tables: [PAYLOADS], open: openPayloads };
