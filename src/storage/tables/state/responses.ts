// Stored responses: chains, lookup of items, deletion and expiry.
import { sql } from 'kysely';
import type { JsonObject } from '../../../base/json/index.ts';
import { othersRun } from '../../others-run.ts';
import type { ResponseStore, StoredResponse } from '../../../accounts/ports/index.ts';
import { CONVERSATION_ITEMS, CONVERSATIONS, decodeItem, encodeItems } from './conversation-tables.ts';
import { firstOf, type Queries, rowsOf, type StateDatabase, type Store } from '../database.ts';
import { expirer, purger } from '../purge.ts';
import {
  decodeResponse,
  decodeTexts,
  DELETED,
  type FoundRow,
  itemOf,
  itemsOf,
  placeOf,
  RESPONSE_IDS,
  type ResponseHead,
  responseRow,
  RESPONSES,
} from './response-table.ts';
import { statement } from '../statement.ts';
import type { UnixMs } from '../../../base/units.ts';

/** Responses that are searched for an item. Nearly always the first contains it, but a text may only mention the id. */
const MENTIONS = 8;
/** Milliseconds for which a deletion is remembered. Longer than any journal exists, except in a backup. */
const DELETED_KNOWN_MS = 90 * 86_400_000;

const COLUMNS = [
  'r.id',
  'r.key_id',
  'r.created_at',
  'r.expires_at',
  'r.previous_id',
  'r.conversation_id',
  'r.response',
  'r.input',
] as const;

export const responses: Store<ResponseStore> = {
  tables: [RESPONSES, RESPONSE_IDS, DELETED],
  open: openResponses,
};

function openResponses(database: StateDatabase): ResponseStore {
  const { on, dialect, transact, ask, usage, turns, indexer } = database;
  const db = on(RESPONSES, RESPONSE_IDS, CONVERSATIONS, CONVERSATION_ITEMS);
  const forget = purger(database, DELETED, 'deleted_at');
  const byId = statement((v: { projectId: string; id: string; nowMs: UnixMs }) =>
    db
      .selectFrom('responses as r')
      .select(COLUMNS)
      .where('r.id', '=', v.id)
      .where('r.key_id', '=', v.projectId)
      .where('r.expires_at', '>', v.nowMs),
  );
  // Latest first. SQLite joins the tables of a cross join in the given order. A missing response ends the chain early.
  const chainOf = statement(
    (v: { projectId: string; id: string; nowMs: UnixMs }) =>
      sql<FoundRow>`
      with recursive chain(row, previous_id, place) as (
        select r.row, r.previous_id, 1 from responses as r
          where r.id = ${v.id} and r.key_id = ${v.projectId} and r.expires_at > ${v.nowMs}
        union all
        select r.row, r.previous_id, c.place + 1 from chain as c cross join responses as r
          where r.id = c.previous_id and r.key_id = ${v.projectId} and r.expires_at > ${v.nowMs}
      )
      select ${sql.join(COLUMNS.map((name) => sql.ref(name)))}
      from chain as c cross join responses as r where r.row = c.row order by c.place`,
  );
  const itemOfConversations = statement((v: { projectId: string; itemId: string; nowMs: UnixMs }) =>
    db
      .selectFrom('conversation_items as i')
      .innerJoin('conversations as c', 'c.row', 'i.conversation_row')
      .select('i.item')
      .where('i.key_id', '=', v.projectId)
      .where('i.item_id', '=', v.itemId)
      .whereRef('c.key_id', '=', 'i.key_id')
      .where('c.expires_at', '>', v.nowMs)
      .orderBy('i.conversation_row', 'desc')
      .limit(1),
  );
  const mentions = statement((v: { projectId: string; place: string; needle: string; nowMs: UnixMs }) =>
    db
      .selectFrom('response_ids as i')
      .innerJoin('responses as r', 'r.row', 'i.response_row')
      .select(['r.response', 'r.input'])
      .where('i.place', '=', v.place)
      .where('i.key_id', '=', v.projectId)
      .where('r.expires_at', '>', v.nowMs)
      .where(dialect.contains(['r.response', 'r.input'], v.needle))
      .orderBy('i.response_row', 'desc')
      .limit(MENTIONS),
  );
  const removeExpired = expirer<ResponseHead>(database, RESPONSES, ['row', 'key_id', 'bytes'], (heads) =>
    usage.removeResponses(heads),
  );

  function* readItem(projectId: string, itemId: string, nowMs: UnixMs): Queries<JsonObject | null> {
    const item = yield* firstOf(itemOfConversations({ projectId, itemId, nowMs }));
    if (item) return decodeItem(item);
    const needle = JSON.stringify(itemId);
    const rows = yield* rowsOf(mentions({ projectId, place: placeOf(itemId), needle, nowMs }));
    return itemOf(rows.map(decodeTexts), itemId);
  }
  /** Reads, and tries once more if entries may have arrived from journals in the meantime. */
  const found = async <T>(read: () => Queries<T | null>): Promise<T | null> => {
    await turns.arrived();
    const first = await ask(read);
    if (first !== null) return first;
    return (await turns.more()) ? ask(read) : null;
  };
  return {
    async put(stored, { appendTo, isByJob = false } = {}) {
      const making = responseRow(stored);
      const isLarge = making instanceof Promise;
      const response = isLarge ? await making : making;
      await turns.keep(
        {
          projectId: stored.projectId,
          response,
          appendTo: appendTo ?? null,
          items: appendTo === undefined ? [] : encodeItems(itemsOf(stored)),
          isByJob,
        },
        isLarge,
      );
      // Lets the caller continue in another turn, after this large write.
      if (isLarge) await othersRun();
      return response.response;
    },
    find: (projectId, id, nowMs) =>
      found<StoredResponse>(function* () {
        const row = yield* firstOf(byId({ projectId, id, nowMs }));
        return row ? decodeResponse(row) : null;
      }),
    chain: (projectId, id, nowMs) =>
      found<readonly StoredResponse[]>(function* () {
        const rows = yield* rowsOf(chainOf({ projectId, id, nowMs }));
        return rows.at(-1)?.previous_id === null ? rows.toReversed().map(decodeResponse) : null;
      }),
    async findItem(projectId, itemId, nowMs) {
      // Waits for the indexer, because the latest item with this id is wanted.
      if (database.kind === 'sqlite') await indexer.caughtUp();
      return found(() => readItem(projectId, itemId, nowMs));
    },
    async delete(projectId, id) {
      await turns.arrived();
      await turns.more();
      return transact(function* () {
        const head = yield* firstOf(
          dialect.held(
            db
              .selectFrom('responses')
              .select(['row', 'key_id', 'bytes'])
              .where('id', '=', id)
              .where('key_id', '=', projectId),
          ),
        );
        if (!head) return false;
        yield* usage.removeResponses([head]);
        yield* turns.noteDeleted(projectId, id);
        return true;
      });
    },
    async purge(nowMs) {
      if (database.kind === 'sqlite') await indexer.caughtUp();
      const forgotten = await forget(nowMs - DELETED_KNOWN_MS);
      return forgotten + (await removeExpired(nowMs)).length;
    },
  };
}
