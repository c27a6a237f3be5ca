// The schema that holds the tables: found out once, so that no connection ever looks into another one. Schemas of a `search_path`
// may be other people's, or come to be there later (`"$user"`).
import { sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import type { Tx } from './store.ts';

interface Found {
  /** Null where the path names no schema that exists. */
  readonly name: string | null;
  readonly path: string | null;
  readonly is_open: boolean | null;
}

/** Functions are named with their schema: others may be nearer to these arguments (PostgreSQL 16, "Function Type Resolution"). */
const FOUND = sql<Found>`
  select current_schema as name,
    pg_catalog.quote_ident(current_schema::pg_catalog.text) operator(pg_catalog.||) ', pg_temp' as path,
    pg_catalog.has_schema_privilege('public', current_schema::pg_catalog.text, 'create') as is_open`;

/**
 * Narrows the `search_path` of a transaction to the schema in which tables are made.
 * @param notice told where every user of the database may create tables and functions there
 * @returns the path, for other connections
 * @throws GatewayError `internal` where there is none
 */
export async function ownSchema(tx: Tx, notice: (sentence: string) => void): Promise<string> {
  const { rows } = await FOUND.execute(tx);
  const [{ name, path, is_open: isOpen } = { name: null, path: null, is_open: null }] = rows;
  if (name === null || path === null)
    throw new GatewayError(
      'internal',
      'the database of database_url cannot be used: its search_path names no schema that is there. Create the schema, or name another one (?options=-c%20search_path%3Dname)',
    );
  if (isOpen)
    notice(
      `every user of the database may create tables and functions in its schema ${JSON.stringify(name)}, and so have the gateway run what they wrote: revoke create on schema ${path.slice(0, -', pg_temp'.length)} from public`,
    );
  await sql`select pg_catalog.set_config('search_path', ${path}, true)`.execute(tx);
  return path;
}
