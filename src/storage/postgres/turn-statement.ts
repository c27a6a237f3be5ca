// A turn as one statement, which is one way to the server and back instead of five to eight: the response, where its ids are
// listed, its items in the conversation, and what all of it counts for. Rows are locked in the order of the transaction that
// does the same step by step: the conversation before the counter of the project.
import { sql } from 'kysely';
import type { ResponseRow } from '../state/response-rows.ts';
import { isRepeatable, isTakenBack } from './failures.ts';
import type { TurnRows } from './late-turns.ts';
import type { PostgresBase } from './store.ts';

/**
 * Writes a turn. What is there already changes nothing.
 * @returns false where nothing was done, and it has to go step by step: others have to give way, or were in the way
 */
export async function wroteAtOnce(
  { db, usage }: Pick<PostgresBase, 'db' | 'usage'>,
  { response: r, appendTo, items }: TurnRows & { readonly response: ResponseRow },
): Promise<boolean> {
  try {
    // Without room there is no row of `used`, and the division takes everything back.
    await sql`
      with made as (
        insert into responses (id, key_id, created_at, expires_at, previous_id, conversation_id, bytes, places,
          response, input)
        values (${r.id}, ${r.projectId}, ${r.createdAt}, ${r.expiresAt}, ${r.previousId}, ${r.conversationId},
          ${r.bytes}, ${JSON.stringify(r.places)}, ${r.response}, ${r.input})
        on conflict (id) do nothing
        returning row
      ), listed as (
        insert into response_ids (place, key_id, response_row)
        select p.place, ${r.projectId}, made.row from made, unnest(${r.places}::text[]) as p(place)
        on conflict do nothing
      ), conversation as materialized (
        select c.row from conversations as c
        where c.id = ${appendTo} and c.key_id = ${r.projectId} and exists (select from made)
        for update
      ), added as (
        insert into conversation_items (conversation_row, key_id, item_id, bytes, item)
        select c.row, ${r.projectId}, i.id, i.bytes, i.item
        from conversation as c, unnest(
          ${items.map(({ id }) => id)}::text[],
          ${items.map(({ bytes }) => bytes)}::bigint[],
          ${items.map(({ text }) => text)}::text[]) with ordinality as i(id, bytes, item, place)
        order by i.place
        on conflict (key_id, item_id, conversation_row) do nothing
        returning bytes
      ), kept as (
        select coalesce(sum(bytes), 0)::bigint as bytes from added
      ), grown as (
        update conversations as c set bytes = c.bytes + kept.bytes
        from conversation, kept where c.row = conversation.row and kept.bytes > 0
      ), used as (
        insert into state_usage as s (key_id, responses, kept)
        select ${r.projectId}, ${r.bytes}::bigint, kept.bytes from made, kept
        where ${r.bytes}::bigint + kept.bytes <= ${usage.mostBytes}::bigint
        on conflict (key_id) do update
          set responses = s.responses + excluded.responses, kept = s.kept + excluded.kept
          where s.responses + s.kept + excluded.responses + excluded.kept <= ${usage.mostBytes}::bigint
        returning key_id
      )
      select made.row / (select count(*) from used) from made`.execute(db);
    return true;
  } catch (error) {
    if (isTakenBack(error) || isRepeatable(error)) return false;
    throw error;
  }
}
