// Records, those of earlier versions too, and the prompts and answers of both. They are not counted: the sums are moved, and
// hold also what was deleted since.
import type { SqlRow } from '../../runtime/sqlite.ts';
import { GatewayError } from '../../canonical/index.ts';
import { CompactReader } from '../compact/reader.ts';
import { spelledOut } from '../compact/spell-out.ts';
import { CompactWriter, NO_NAMES } from '../compact/writer.ts';
import { type CountedRecord, countedRecord } from '../postgres/records/counted-record.ts';
import { DayPartitions } from '../postgres/records/day-partitions.ts';
import { noName } from '../postgres/records/found-records.ts';
import { RecordRows } from '../postgres/records/record-rows.ts';
import { rowId } from '../postgres/records/row-ids.ts';
import { readColumns } from '../record-columns.ts';
import { textId } from '../record-ids.ts';
import { writeRecord } from '../record-writer.ts';
import { decodeAttempt, decodeGeneration } from '../sqlite/earlier-ledger-rows.ts';
import type { AttemptTable, ContentTable, GenerationTable, RecordTable } from '../sqlite/schema.ts';
import { readRecordFacts } from '../usage/record-facts.ts';
import type { Part } from './part.ts';
import { countRows, readPiece } from './pieces.ts';
import type { Source } from './source.ts';

export function recordParts(source: Source): readonly Part[] {
  const rows = new RecordRows(
    { add: () => Promise.resolve() },
    new DayPartitions('records'),
    new DayPartitions('record_contents'),
  );
  const part = (table: string, large: readonly string[], read: (row: SqlRow) => CountedRecord): Part => ({
    name: table,
    total: () => countRows(source, table),
    next(after) {
      const piece = readPiece(source, { table, keys: ['id'], large }, after);
      if (!piece) return null;
      const records = piece.rows.map((row) => readable(row, read));
      return { rows: records.length, cursor: piece.cursor, write: (tx) => rows.write(records, tx) };
    },
  });
  const contents: Part = {
    name: 'generation_contents',
    total: () => countRows(source, 'generation_contents'),
    next(after) {
      const query = {
        table: 'generation_contents',
        keys: ['generation_id'],
        large: ['request', 'answer'],
      };
      const piece = readPiece(source, query, after);
      if (!piece) return null;
      const found = (piece.rows as object[] as ContentTable[]).map(
        ({ generation_id: id, request, answer }) => ({
          id: rowId(id),
          request,
          answer,
        }),
      );
      return { rows: found.length, cursor: piece.cursor, write: (tx) => rows.writeContents(found, tx) };
    },
  };
  return [
    part('records', ['record'], (row) => recordOf(row as object as RecordTable, source)),
    part('generations', ['record'], (row) => generationOf(row as object as GenerationTable, source)),
    contents,
  ];
}

function recordOf(row: RecordTable, { textOf }: Source): CountedRecord {
  const { id, created_at: createdAt, cost_usd: costUsd } = row;
  const rest = spelledOut(row.record, textOf);
  const nameOf = (number: number | null): string | null => (number === null ? null : textOf(number));
  return countedRecord({
    id,
    key: textOf(row.key),
    createdAt,
    model: nameOf(row.model),
    provider: nameOf(row.provider),
    status: row.status,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    costUsd,
    request: null,
    answer: null,
    rest,
    facts: readRecordFacts(new CompactReader(rest, noName), { id, createdAt, costUsd }),
  });
}

const writer = new CompactWriter(NO_NAMES);

function generationOf(row: GenerationTable, source: Source): CountedRecord {
  const { generation, attempts: own } = decodeGeneration(row, null);
  const stored = source.rows('select * from attempts where generation_id = ? order by ordinal', row.id);
  const attempts =
    own.length > 0
      ? own
      : (stored as object[] as AttemptTable[]).map((attempt) => decodeAttempt(attempt, generation));
  writer.reset();
  writeRecord(writer, generation, attempts);
  // The writer uses its bytes again.
  return countedRecord(readColumns(new CompactReader(writer.written().slice(), noName)));
}

/** @throws GatewayError `internal` that names the row */
function readable(row: SqlRow, read: (row: SqlRow) => CountedRecord): CountedRecord {
  try {
    return read(row);
  } catch (cause) {
    const id = textId(row['id'] as Uint8Array | string);
    throw new GatewayError('internal', `the record ${id} is damaged and cannot be moved`, { cause });
  }
}
