// Stored form of records, derived from their member tables: a bit for each member that differs from its default, then
// the values of those members.
import {
  ATTEMPT_MEMBERS,
  type AttemptRecord,
  GENERATION_MEMBERS,
  type GenerationRecord,
  type Member,
  type Members,
  type MemberTable,
} from '../../accounts/ledger/index.ts';
import type { CompactReader } from '../compact/reader.ts';
import type { CompactWriter } from '../compact/writer.ts';
import { rowId } from '../record-ids.ts';
import { CODECS, type ValueCodec } from './value-codecs.ts';
import type { UnixMs } from '../../base/units.ts';

export interface StoredRecord {
  readonly generation: GenerationRecord;
  /** In order. */
  readonly attempts: readonly AttemptRecord[];
}

/** `lean`: only members that sums need. */
export type Depth = 'whole' | 'lean';

interface Column {
  readonly name: string;
  readonly usual: unknown;
  readonly hasUsual: boolean;
  /** The default is computed from other members. */
  readonly follows: boolean;
  readonly codec: ValueCodec<never>;
  /** Needed for sums. */
  readonly isCounted: boolean;
}

/** Members of generations that rows and sums are made of. */
const COUNTED: ReadonlySet<string> = new Set([
  'createdAt',
  'keyId',
  'projectId',
  'endUser',
  'protocol',
  'model',
  'requestedModel',
  'provider',
  'endpoint',
  'firstContentAt',
  'endedAt',
  'status',
  'cancelled',
  'turns',
  'usage',
  'cost',
  'error',
  'outcome',
]);
/** Members of attempts that sums are made of. */
const COUNTED_OF_ATTEMPT: ReadonlySet<string> = new Set(['provider', 'endpoint', 'outcome', 'error']);

const NO_MEMBERS: Members = {};

/** Encodes and decodes the members of one table. */
export class MembersCodec {
  readonly #columns: readonly Column[];
  /**
   * Records with all defaults, and null for computed ones. Copied, because that is faster than adding members one by
   * one.
   */
  readonly #usual: Readonly<Record<Depth, Members>>;

  constructor(table: MemberTable, counted: ReadonlySet<string> = new Set()) {
    this.#columns = Object.entries(table).map(([name, { kind, usual }]: [string, Member<unknown>]) => ({
      name,
      usual,
      hasUsual: usual !== undefined,
      follows: typeof usual === 'function',
      codec: CODECS[kind],
      isCounted: counted.has(name),
    }));
    const usualMembers = (depth: Depth): Members =>
      Object.fromEntries(
        this.#columns
          .filter(({ isCounted }) => depth === 'whole' || isCounted)
          .map(({ name, usual, hasUsual, follows, codec }) => [
            name,
            follows ? null : hasUsual ? usual : codec.none,
          ]),
      );
    this.#usual = { whole: usualMembers('whole'), lean: usualMembers('lean') };
  }

  /**
   * @param sinceMs base of stored times (Unix milliseconds)
   * @param generation generation of an attempt; absent for a generation itself
   */
  write(w: CompactWriter, record: Members, sinceMs: UnixMs, generation = NO_MEMBERS): void {
    const columns = this.#columns;
    const marks = w.members(columns.length);
    for (let at = 0; at < columns.length; at += 1) {
      const column = columns[at] as Column;
      const value = record[column.name];
      if (value === undefined) continue;
      if (column.hasUsual && value === usualOf(column, record, generation)) continue;
      w.mark(marks, at);
      column.codec.write(w, value as never, sinceMs);
    }
  }

  /** Decodes the members of a record. @throws RangeError for invalid bytes */
  read(r: CompactReader, depth: Depth, generation = NO_MEMBERS): Record<string, unknown> {
    const columns = this.#columns;
    const own: Record<string, unknown> = { ...this.#usual[depth] };
    const { count, marks } = r.members();
    for (let at = 0; at < columns.length; at += 1) {
      const isWritten = at < count && ((marks[at >> 3] ?? 0) & (1 << (at & 7))) !== 0;
      const column = columns[at] as Column;
      if (!isWritten && !column.follows) continue;
      if (depth === 'lean' && !column.isCounted) {
        if (isWritten) r.skip();
      } else if (!isWritten) own[column.name] = usualOf(column, own, generation);
      else
        own[column.name] = column.codec.read(r, Number(own['createdAt'] ?? generation['createdAt']), depth);
    }
    // Members added by newer versions.
    for (let at = columns.length; at < count; at += 1)
      if (((marks[at >> 3] ?? 0) & (1 << (at & 7))) !== 0) r.skip();
    return own;
  }
}

function usualOf({ usual }: Column, own: Members, generation: Members): unknown {
  return typeof usual === 'function'
    ? (usual as (a: Members, b: Members) => unknown)(own, generation)
    : usual;
}

const GENERATION = new MembersCodec(GENERATION_MEMBERS, COUNTED);
const ATTEMPT = new MembersCodec(ATTEMPT_MEMBERS, COUNTED_OF_ATTEMPT);

/** Journal entry of a record, decoded as far as its row requires. */
export interface RecordEntry {
  readonly id: Buffer;
  /** The record without its id, and with only the members that sums need. */
  readonly record: StoredRecord;
  /** Prompt and answer as JSON. `null`: not stored. */
  readonly request: string | null;
  readonly answer: string | null;
  /** Encoded record, as stored in its row. */
  readonly bytes: Uint8Array;
}

/** Encodes a journal entry: id, prompt, answer, then the bytes of the row. @param w must be reset */
export function writeEntry(w: CompactWriter, g: GenerationRecord, attempts: readonly AttemptRecord[]): void {
  w.id(g.id);
  w.text(g.content && JSON.stringify(g.content.request));
  w.text(g.content && JSON.stringify(g.content.answer));
  const members = g as unknown as Members;
  GENERATION.write(w, members, g.createdAt);
  w.number(attempts.length);
  for (const attempt of attempts) ATTEMPT.write(w, attempt as unknown as Members, g.createdAt, members);
}

/** @throws RangeError for invalid bytes */
export function readEntry(r: CompactReader): RecordEntry {
  const id = rowId(r.id());
  const request = r.value() as string | null;
  const answer = r.value() as string | null;
  const bytes = r.rest();
  return { id, record: readRecord(r, '', null, 'lean'), request, answer, bytes };
}

/** Decodes the bytes of a row. @throws RangeError for invalid bytes */
export function readRecord(
  r: CompactReader,
  id: string,
  content: GenerationRecord['content'],
  depth: Depth = 'whole',
): StoredRecord {
  const own = GENERATION.read(r, depth);
  own['id'] = id;
  own['content'] = content;
  const generation = own as unknown as GenerationRecord;
  const attempts: AttemptRecord[] = [];
  for (let left = r.value() as number; left > 0; left -= 1) {
    const attempt = ATTEMPT.read(r, depth, own);
    attempt['generationId'] = id;
    for (const phase of ['queuedMs', 'connectMs', 'headersMs'])
      if (attempt[phase] === null) delete attempt[phase];
    attempts.push(attempt as unknown as AttemptRecord);
  }
  return { generation, attempts };
}
