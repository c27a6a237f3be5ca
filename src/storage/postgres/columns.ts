// What columns have in common.
import { type RawBuilder, sql } from 'kysely';

/** An id: compared byte by byte, whatever language the database sorts in. */
export const ID: RawBuilder<unknown> = sql`text collate "C"`;
