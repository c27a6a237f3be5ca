// Reads records from their rows.
import { type Kysely, sql } from 'kysely';
import type { GenerationRecord } from '../../../ledger/index.ts';
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
  readonly request: string;
  readonly answer: string;
}

/** The record of a row, with prompt and answer where they are kept. */
export async function foundRecord(db: Kysely<PostgresSchema>, row: RecordRow): Promise<ListedGeneration> {
  const { rows: contents } = await sql<ContentRow>`
    select request, answer from record_contents where id = ${row.id}`.execute(db);
  const [content] = contents;
  return recordOf(
    row,
    content ? { request: JSON.parse(content.request), answer: JSON.parse(content.answer) } : null,
  );
}

/** The record of a row. @param content prompt and answer; null where they are not kept, or not wanted */
export function recordOf(row: RecordRow, content: GenerationRecord['content']): ListedGeneration {
  return readRecord(new CompactReader(row.record, noName), {
    id: idOfRow(row.id),
    keyId: row.key,
    createdAt: row.created_at,
    model: row.model || null,
    provider: row.provider || null,
    status: row.status,
    costUsd: row.cost_usd,
    content,
  });
}

/** Records of this database hold their names as they are. @throws RangeError always */
export function noName(number: number): never {
  throw new RangeError(`no name has the number ${number}`);
}
