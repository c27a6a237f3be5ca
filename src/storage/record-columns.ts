// Reads an entry that `record-writer.ts` wrote, as far as its row has columns, and what of it goes into sums.
import type { CompactReader } from './compact/reader.ts';
import { readRecordFacts, type RecordFacts } from './usage/record-facts.ts';

/** What the columns of a row hold; a name is its number, or its text where it had none. */
export interface RecordColumns {
  readonly id: Uint8Array | string;
  readonly key: number | string;
  readonly createdAt: number;
  readonly model: number | string | null;
  readonly provider: number | string | null;
  readonly status: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly costUsd: number | null;
  /** Prompt and answer as JSON; null when they are not kept. */
  readonly request: string | null;
  readonly answer: string | null;
  /** All else, for `readRecord`. */
  readonly rest: Uint8Array;
  /** What of it goes into sums. */
  readonly facts: RecordFacts;
}

/** What the columns of a record's row hold. @throws RangeError when the bytes are none of a record's */
export function readColumns(r: CompactReader): RecordColumns {
  const id = r.id();
  const key = r.name() ?? '';
  const createdAt = r.value() as number;
  const model = r.name();
  const provider = r.name();
  const status = r.value() as number;
  const inputTokens = r.value() as number | null;
  const outputTokens = r.value() as number | null;
  const costUsd = r.value() as number | null;
  const request = r.value() as string | null;
  const answer = r.value() as string | null;
  const rest = r.rest();
  const facts = readRecordFacts(r, { id, createdAt, costUsd });
  return {
    id,
    key,
    createdAt,
    model,
    provider,
    status,
    inputTokens,
    outputTokens,
    costUsd,
    request,
    answer,
    rest,
    facts,
  };
}
