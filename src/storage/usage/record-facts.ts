// What sums need of a record, read from the same bytes as its row: only what they count, all else is passed over. Follows
// `record-writer.ts` member by member.
import type { JsonValue } from '../../canonical/index.ts';
import { cacheSavedNanoUsd, type UsageFacts } from '../../usage/index.ts';
import type { CompactReader } from '../compact/reader.ts';
import { timeOf } from '../record-ids.ts';
import { readTime, readUsage } from '../record-reader.ts';
import { CANCELLED, RECORD_FORM } from '../record-writer.ts';

/** What a row has columns for, as far as it matters here. */
interface Head {
  readonly id: Uint8Array | string;
  readonly createdAt: number;
  readonly costUsd: number | null;
}

/** What the sums of a record are kept under, besides what its row has columns for. Names as `RecordColumns` has them. */
export interface RecordFacts extends UsageFacts {
  readonly protocol: number | string | null;
  readonly endpoint: number | string | null;
  /** Null where it is the key's own. */
  readonly project: number | string | null;
  readonly endUser: string | null;
}

/**
 * Reads the rest of a record's row.
 * @param r at its beginning
 * @throws RangeError when the bytes are none of a record's
 */
export function readRecordFacts(r: CompactReader, { id, createdAt, costUsd }: Head): RecordFacts {
  const form = r.value();
  if (form !== RECORD_FORM) throw new RangeError(`no record has the form ${String(form)}`);
  const bits = r.value() as number;
  r.skip(); // api
  const protocol = r.name();
  r.skip(); // the model as it was asked for
  const endpoint = r.name();
  r.skip(); // lane
  const firstContentAt = readTime(r, createdAt);
  const endedAt = readTime(r, createdAt) ?? createdAt;
  r.skip(2); // why it finished
  const attempts = r.value() as number;
  const usage = readUsage(r, r.value(), null, false);
  const { isCharged, saved } = readSavings(r, usage);
  r.skip(2); // report and route
  const errorKind = readErrorKind(r);
  r.skip(); // metadata
  for (let left = r.value() as number; left > 0; left -= 1) skipAttempt(r);
  const project = r.isAtEnd || r.usual() ? null : r.name();
  const endUser = r.isAtEnd ? null : (r.value() as string | null);
  const turns = r.isAtEnd ? 1 : (r.value() as number);
  return {
    isLate: typeof id !== 'string' && timeOf(id) !== createdAt,
    protocol,
    endpoint,
    project,
    endUser,
    errorKind,
    cancelled: (bits & CANCELLED) !== 0,
    attempts,
    turns,
    isCharged: isCharged || usage !== null,
    usage,
    costUsd,
    cacheSavedNanoUsd: saved,
    durationMs: endedAt - createdAt,
    firstContentMs: firstContentAt === null ? null : firstContentAt - createdAt,
  };
}

function readErrorKind(r: CompactReader): string | null {
  const kind = r.value();
  if (kind !== null) r.skip(2);
  return kind as string | null;
}

function skipAttempt(r: CompactReader): void {
  r.skip(13);
  readErrorKind(r);
  const usage = r.value();
  if (typeof usage === 'number') readUsage(r, usage, null, false);
  // `false` comes before a cost of its own.
  if (r.value() !== false) return;
  r.skip();
  const first = r.value();
  if (first === null) return;
  for (let item: JsonValue = first; typeof item === 'string'; item = r.value()) r.skip();
  r.skip();
}

/** Reads a cost. */
function readSavings(
  r: CompactReader,
  usage: UsageFacts['usage'],
): { readonly isCharged: boolean; readonly saved: number } {
  const first = r.value();
  if (first === null) return { isCharged: false, saved: 0 };
  const items: Record<string, number> = {};
  for (let item: JsonValue = first; typeof item === 'string'; item = r.value())
    items[item] = r.value() as number;
  const isCharged = true;
  if (usage && usage.input.cacheRead > 0)
    return { isCharged, saved: cacheSavedNanoUsd(usage, { items, price: r.value() }) };
  r.skip();
  return { isCharged, saved: 0 };
}
