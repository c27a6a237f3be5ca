// Writes turns with one statement, one round trip instead of five to eight: responses, their listed ids, conversation
// items, and usage. Rows are locked in the same order as in the step-by-step transaction: the conversation before the
// project's usage.
import { sql } from 'kysely';
import type { ItemRow } from '../tables/state/conversation-tables.ts';
import type { Driver } from '../tables/database.ts';
import type { ResponseRow } from '../tables/state/response-table.ts';
import type { UsageCounter } from '../tables/state/state-usage.ts';
import { isRepeatable, isRolledBack } from './failures.ts';

/** Turns to write together: responses of one project, and the conversation items of a single one. */
export interface TurnsAtOnce {
  readonly projectId: string;
  readonly responses: readonly ResponseRow[];
  /** Null: no conversation, or several responses. */
  readonly appendTo: string | null;
  readonly items: readonly ItemRow[];
}

/**
 * Writes turns. Existing rows are left unchanged.
 * @returns false if nothing was written and the step-by-step way is needed, because of the quota or a conflict
 */
export async function wroteAtOnce(
  write: Driver['write'],
  usage: UsageCounter,
  { projectId, responses, appendTo, items }: TurnsAtOnce,
): Promise<boolean> {
  const places = responses.flatMap(({ id, places: all }) => all.map((place) => ({ id, place })));
  try {
    // `used` is empty if the quota is exceeded. The division by zero then rolls everything back.
    await write(sql`
      with made as (
        insert into responses (id, key_id, created_at, expires_at, previous_id, conversation_id, bytes, places,
          response, input)
        values ${sql.join(
          responses.map(
            (r) => sql`(${r.id}, ${projectId}, ${r.createdAt}, ${r.expiresAt}, ${r.previousId},
              ${r.conversationId}, ${r.bytes}, ${JSON.stringify(r.places)}, ${r.response}, ${r.input})`,
          ),
        )}
        on conflict (id) do nothing
        returning row, id, bytes
      ), listed as (
        insert into response_ids (place, key_id, response_row)
        select p.place, ${projectId}, made.row
        from made join unnest(
          ${places.map(({ place }) => place)}::text[],
          ${places.map(({ id }) => id)}::text[]) as p(place, id) on p.id = made.id
        on conflict do nothing
      ), conversation as materialized (
        select c.row from conversations as c
        where c.id = ${appendTo} and c.key_id = ${projectId} and exists (select from made)
        for update
      ), added as (
        insert into conversation_items (conversation_row, key_id, item_id, bytes, item)
        select c.row, ${projectId}, i.id, i.bytes, i.item
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
      ), sums as (
        select count(*) as responses, coalesce(sum(bytes), 0)::bigint as bytes from made
      ), others as (
        select coalesce(sum(o.responses + o.kept), 0)::bigint as bytes from state_usage as o
        where o.key_id = ${projectId} and o.writer <> ${usage.writer}
      ), used as (
        insert into state_usage as s (key_id, writer, responses, kept)
        select ${projectId}, ${usage.writer}::integer, sums.bytes, kept.bytes from sums, kept, others
        where sums.responses > 0 and sums.bytes + kept.bytes + others.bytes <= ${usage.mostBytes}::bigint
        on conflict (key_id, writer) do update
          set responses = s.responses + excluded.responses, kept = s.kept + excluded.kept
          where s.responses + s.kept + excluded.responses + excluded.kept + (select bytes from others)
            <= ${usage.mostBytes}::bigint
        returning key_id
      )
      select sums.responses / (select count(*) from used) from sums where sums.responses > 0`);
    return true;
  } catch (error) {
    if (isRolledBack(error) || isRepeatable(error)) return false;
    throw error;
  }
}
