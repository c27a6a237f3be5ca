// Reads records from their rows.
import { type Kysely, sql } from 'kysely';
import type { ListedGeneration } from '../../ports.ts';
import { CompactReader } from '../../compact/reader.ts';
import { readRecord } from '../../record-reader.ts';
import type { PostgresSchema } from '../store.ts';
import { idOfRow } from './row-ids.ts';

/** Columns that a record is read from. */
export const RECORD_COLUMNS = sql`id, key, created_at, model, provider, status, cost_usd, record`;

export interface RecordRow {
  readonly id: Buffer;
  readonly key: string;
  readonly created_at: number;
  readonly model: string;
  readonly provider: string;
  readonly status: number;
  readonly cost_usd: number | null;
  readonly record: Buffer;
}

interface ContentRow {
  readonly id: Buffer;
  readonly request: string;
  readonly answer: string;
}

/** The records of rows, in their order, with their contents as far as they are kept. */
export async function foundRecords(
  db: Kysely<PostgresSchema>,
  rows: readonly RecordRow[],
): Promise<readonly ListedGeneration[]> {
  if (rows.length === 0) return [];
  const { rows: contents } = await sql<ContentRow>`
    select id, request, answer from record_contents where id = any(${rows.map(({ id }) => id)}::bytea[])`.execute(
    db,
  );
  const contentOf = new Map(contents.map((content) => [idOfRow(content.id), content] as const));
  return rows.map((row) => {
    const id = idOfRow(row.id);
    const content = contentOf.get(id);
    return readRecord(new CompactReader(row.record, noName), {
      id,
      keyId: row.key,
      createdAt: row.created_at,
      model: row.model || null,
      provider: row.provider || null,
      status: row.status,
      costUsd: row.cost_usd,
      content: content ? { request: JSON.parse(content.request), answer: JSON.parse(content.answer) } : null,
    });
  });
}

/** Records of this database hold their names as they are. @throws RangeError always */
export function noName(number: number): never {
  throw new RangeError(`no name has the number ${number}`);
}
