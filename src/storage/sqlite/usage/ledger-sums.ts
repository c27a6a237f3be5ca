// What limits are set from: sums by owner and model from a time on, to the millisecond: whole hours from the rows of sums,
// the hour that the time lies in from its records.
import {
  countedRequestsIn,
  countFacts,
  inputTokensIn,
  noUsageSums,
  outputTokensIn,
} from '../../../usage/index.ts';
import type { LedgerSum, LedgerSums, Owner, SumQuery } from '../../../limits/index.ts';
import type { SqlStatement } from '../../../runtime/sqlite.ts';
import type { SqliteNames } from '../names.ts';
import type { Indexer } from '../../journal/indexer.ts';
import { firstIdAt, liesAtItsTime, storedId, textId } from '../../record-ids.ts';
import type { UsageTable } from '../schema.ts';
import type { SqliteBase } from '../store.ts';
import type { Backfill } from './backfill.ts';
import type { NamedRecord } from './counted-record.ts';
import type { EndUserReader } from './end-user-reader.ts';
import { type PendingSums, pendingSumsOf } from './pending-sums.ts';
import { RecordScan, type ScannedRecord } from './record-scan.ts';
import type { NumberFilters } from './usage-groups.ts';
import { othersRun } from '../../others-run.ts';
import { numberFilters, type UsageReader } from './usage-reader.ts';
import { HOUR_MS, type HourSpan } from '../../usage/hours.ts';
import { PURGED_BEFORE } from './usage-tables.ts';

/** Sums of one answer of many, and records that are read in one go. */
const MOST_SUMS = 1_000;
const CHUNK = 200;

/** Behind all hours. */
const NO_END = Number.MAX_SAFE_INTEGER;
const NO_FILTERS: NumberFilters = new Map();

/** What is added up: names are texts, null where there is none. */
interface Part {
  readonly project: string;
  readonly key: string;
  readonly provider: string | null;
  readonly model: string | null;
  readonly endUser: string | null;
  readonly atMs: number;
  readonly requests: number;
  readonly tokens: number;
  readonly nanoUsd: number;
}

export class SqliteLedgerSums implements LedgerSums {
  readonly #indexer: Indexer;
  readonly #names: SqliteNames;
  readonly #scan: RecordScan;
  readonly #reader: UsageReader;
  readonly #endUsers: EndUserReader;
  readonly #backfill: Backfill;
  readonly #pending: PendingSums;
  /** Binds its name. */
  readonly #setting: SqlStatement;

  constructor(base: SqliteBase, reader: UsageReader, endUsers: EndUserReader, backfill: Backfill) {
    this.#indexer = base.indexer;
    this.#names = base.names;
    this.#scan = new RecordScan(base);
    this.#reader = reader;
    this.#endUsers = endUsers;
    this.#backfill = backfill;
    this.#pending = pendingSumsOf(base);
    const setting = base.db.selectFrom('settings').select('value').where('name', '=', '');
    this.#setting = base.connection.prepare(setting.compile().sql);
  }

  /** Waits until all records from there on are in the sums: of an older ledger they may not be yet. */
  async *read(query: SumQuery): AsyncGenerator<readonly LedgerSum[]> {
    const { by, byEndUser, inSlices, fromMs } = query;
    await this.#indexer.caughtUp();
    await this.#indexer.caughtUpWithOthers();
    await this.#pending.settle();
    while (!this.#backfill.reachesBackTo(fromMs) && (await this.#backfill.step())) await othersRun();
    let sums = new Map<string, LedgerSum>();
    // Of end users a provider's sums know nothing.
    for await (const parts of this.#parts({ ...query, byEndUser: byEndUser && by !== 'provider' })) {
      for (const part of parts) addTo(sums, part, by, inSlices);
      if (sums.size < MOST_SUMS) continue;
      yield [...sums.values()];
      sums = new Map();
    }
    if (sums.size > 0) yield [...sums.values()];
  }

  async *#parts(query: SumQuery): AsyncGenerator<readonly Part[]> {
    const { by, owners, fromMs, byEndUser, inSlices } = query;
    const isOfSome = by !== 'gateway' && owners !== undefined;
    const filters = isOfSome ? numberFilters({ [by]: owners }, this.#names) : NO_FILTERS;
    const firstHour = Math.floor(fromMs / HOUR_MS);
    let from = firstHour;
    // Where its records are gone, the whole hour counts.
    if (fromMs > firstHour * HOUR_MS && fromMs >= this.#purgedBefore()) {
      from += 1;
      for await (const parts of this.#recordsBetween(fromMs, from * HOUR_MS, byEndUser))
        yield isOfSome ? parts.filter((part) => owners.includes(part[by] ?? '')) : parts;
    }
    if (!byEndUser) return yield* this.#hours({ from, to: NO_END }, filters, inSlices);
    const known = this.#reader.hours();
    if (known)
      for (let hour = Math.max(from, known.from); hour < known.to; hour += 1)
        yield await this.#hourByEndUser({ from: hour, to: hour + 1 }, filters);
  }

  #purgedBefore(): number {
    return Number(this.#setting.all(PURGED_BEFORE)[0]?.['value'] ?? 0);
  }

  async *#hours(span: HourSpan, filters: NumberFilters, inSlices: boolean): AsyncGenerator<readonly Part[]> {
    for await (const { rows, hours } of this.#reader.read(span, filters, inSlices))
      yield rows.map((row) => ({
        ...this.#namesOf(row),
        provider: this.#textOf(row.provider),
        endUser: null,
        atMs: (row.period + 1) * hours * HOUR_MS - 1,
        requests: countedRequestsIn(row),
        tokens: inputTokensIn(row) + outputTokensIn(row),
        nanoUsd: row.nano_usd,
      }));
  }

  /** The end users of an hour, and what is left of its sums: that is of requests that named nobody, or had no room. */
  async #hourByEndUser(span: HourSpan, filters: NumberFilters): Promise<readonly Part[]> {
    const left = new Map<string, Part>();
    for await (const parts of this.#hours(span, filters, true))
      for (const part of parts) addPart(left, part, 1);
    const named: Part[] = [];
    for await (const rows of this.#endUsers.read(span, filters))
      for (const row of rows) {
        const part = {
          ...this.#namesOf(row),
          provider: null,
          endUser: row.end_user.length === 0 ? null : Buffer.from(row.end_user).toString('hex'),
          atMs: (row.period + 1) * HOUR_MS - 1,
          requests: countedRequestsIn(row),
          tokens: row.input_tokens + row.output_tokens,
          nanoUsd: row.nano_usd,
        };
        if (part.endUser === null) continue;
        named.push(part);
        addPart(left, part, -1);
      }
    const isSomething = ({ requests, tokens, nanoUsd }: Part): boolean => requests + tokens + nanoUsd > 0;
    return [...named, ...[...left.values()].filter(isSomething)];
  }

  /** Within an hour. */
  async *#recordsBetween(fromMs: number, toMs: number, byEndUser: boolean): AsyncGenerator<readonly Part[]> {
    const partsOf = (found: readonly ScannedRecord[]): readonly Part[] =>
      found.flatMap(({ record }) => (record ? [this.#partOf(record, byEndUser)] : []));
    const end = firstIdAt(toMs);
    let from: Uint8Array | null = firstIdAt(fromMs);
    while (from) {
      const found = this.#scan.records(from, end, 'asc', CHUNK);
      yield partsOf(found.filter(({ id, record }) => record && liesAtItsTime(id, record.createdAt)));
      from = found.length < CHUNK ? null : nextId(found.at(-1)?.id);
      await othersRun();
    }
    yield partsOf(this.#scan.elsewhere(fromMs, toMs));
    let generation: string | null = textId(firstIdAt(fromMs));
    while (generation !== null) {
      const found = this.#scan.generations(generation, textId(end), 'asc', CHUNK);
      yield partsOf(found);
      const last = found.length < CHUNK ? null : nextId(found.at(-1)?.id);
      generation = last && textId(last);
      await othersRun();
    }
  }

  #partOf({ createdAt, facts, ...record }: NamedRecord, byEndUser: boolean): Part {
    const sums = noUsageSums();
    countFacts(sums, facts);
    const key = this.#textOf(record.key) ?? '';
    return {
      key,
      project: facts.project === null ? key : (this.#textOf(facts.project) ?? ''),
      provider: this.#textOf(record.provider),
      model: this.#textOf(record.model),
      endUser: byEndUser ? facts.endUser : null,
      atMs: createdAt,
      requests: countedRequestsIn(sums.counts),
      tokens: inputTokensIn(sums.counts) + outputTokensIn(sums.counts),
      nanoUsd: sums.counts.nano_usd,
    };
  }

  #namesOf(row: Pick<UsageTable, 'project' | 'key' | 'model'>): Pick<Part, 'project' | 'key' | 'model'> {
    const textOf = (number: number): string => this.#textOf(number) ?? '';
    return { project: textOf(row.project), key: textOf(row.key), model: this.#textOf(row.model) };
  }

  #textOf(name: number | string | null): string | null {
    if (name === null || name === 0) return null;
    return typeof name === 'string' ? name : this.#names.textOf(name);
  }
}

/** Adds a part to the sum of its owner, where it has one of this kind. */
function addTo(sums: Map<string, LedgerSum>, part: Part, by: Owner['kind'], inSlices: boolean): void {
  const ownerId = by === 'gateway' ? '' : part[by];
  if (ownerId === null) return;
  const { endUser, atMs } = part;
  const model = part.model ?? '';
  const slice = inSlices ? Math.floor(atMs / HOUR_MS) : 0;
  const name = JSON.stringify([ownerId, endUser, model, slice]);
  const known = sums.get(name);
  const { requests = 0, tokens = 0, nanoUsd = 0 } = known ?? {};
  sums.set(name, {
    ownerId,
    endUser,
    model,
    atMs: Math.max(known?.atMs ?? 0, atMs),
    requests: requests + part.requests,
    tokens: tokens + part.tokens,
    nanoUsd: nanoUsd + part.nanoUsd,
  });
}

/** Adds a part to what is known of its project, key and model; or takes it away. */
function addPart(parts: Map<string, Part>, part: Part, sign: 1 | -1): void {
  const name = JSON.stringify([part.project, part.key, part.model]);
  const known = parts.get(name);
  parts.set(name, {
    ...part,
    endUser: null,
    requests: (known?.requests ?? 0) + sign * part.requests,
    tokens: (known?.tokens ?? 0) + sign * part.tokens,
    nanoUsd: (known?.nanoUsd ?? 0) + sign * part.nanoUsd,
  });
}

/** What comes right behind an id. */
function nextId(id: Uint8Array | string | undefined): Uint8Array | null {
  if (id === undefined) return null;
  const bytes = storedId(textId(id));
  return typeof bytes === 'string' ? null : Buffer.concat([bytes, new Uint8Array(1)]);
}
