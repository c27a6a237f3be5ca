// Difference between the client's and the upstream's side of a request, as rows with the matching entries of the
// translation report.
import { isJsonObject, type JsonValue } from '../../base/json/index.ts';
import type { ReportEntry } from '../../canonical/index.ts';
import { areRelated, isWithin, rootOf, valueAt } from './json-path.ts';
import { isSame, matched, type Pair } from './match.ts';
import type { ReadSide } from './read-sides.ts';
import type { ComparedValue } from './compared-values.ts';
import { valuesIn } from './values.ts';

/** A value as it appears in a body. */
export interface Place {
  /** JSON path; null: none, as for values in a stream or a URL. */
  readonly path: string | null;
  /** Long texts are truncated. */
  readonly value: JsonValue;
}

/**
 * `same`: on both sides. `changed`: on both sides, but different. `dropped`: only on the sending side (the client for
 * requests, the upstream for answers). `added`: only on the receiving side. `gateway`: a setting for the gateway, which
 * is not passed on. `form`: a member of an answer that is specific to one protocol.
 */
export const ROW_STATES = ['same', 'changed', 'dropped', 'added', 'gateway', 'form'] as const;
export type RowState = (typeof ROW_STATES)[number];
type Side = 'client' | 'upstream';

export interface DiffRow {
  readonly what: string;
  readonly state: RowState;
  readonly client: Place | null;
  readonly upstream: Place | null;
  /** Matching entries of the translation report. */
  readonly report: readonly ReportEntry[];
}

export interface Diff {
  readonly rows: readonly DiffRow[];
  /** True if one body could only be searched for the values of the other. */
  readonly isByValue: boolean;
}

/** Maximum characters of a shown text. */
const LONGEST = 20_000;
/** Kind of settings that are only for the gateway. */
const GATEWAYS = 'setting gateway';

export interface Sides {
  readonly client: ReadSide;
  readonly upstream: ReadSide;
  /** The sending side. */
  readonly from: Side;
  readonly report: readonly ReportEntry[];
}

/** @returns null if neither side can be read */
export function diffSides({ client, upstream, from, report }: Sides): Diff | null {
  const [one, other] = completed(client, upstream);
  if (one === null || other === null) return null;
  const left = new Set(report);
  const rows = matched(one, other).map((pair): DiffRow => {
    const { client: its, upstream: theirs } = pair;
    return {
      what: (its ?? theirs)?.what ?? '',
      state: stateOf(pair, from),
      client: its && placeOf(its, client.body),
      upstream: theirs && placeOf(theirs, upstream.body),
      report: taken(left, (entry) => isAbout(entry, pair)),
    };
  });
  const others = [
    ...unread(rows, client, 'client', from, left),
    ...unread(rows, upstream, 'upstream', from, left),
  ];
  return {
    rows: [...rows, ...others, ...[...left].map(reported)],
    isByValue: client.said === null || upstream.said === null,
  };
}

/** Removes and returns the report entries that match a row, so that each is shown once. */
function taken(left: Set<ReportEntry>, isIt: (entry: ReportEntry) => boolean): readonly ReportEntry[] {
  const found = [...left].filter(isIt);
  for (const entry of found) left.delete(entry);
  return found;
}

/** Fills in a side that no codec can read, by searching its body for the values of the other side. */
function completed(
  client: ReadSide,
  upstream: ReadSide,
): readonly [readonly ComparedValue[] | null, readonly ComparedValue[] | null] {
  const one =
    client.said ?? (upstream.said && client.body !== null ? valuesIn(upstream.said, client.body) : null);
  const other =
    upstream.said ?? (client.said && upstream.body !== null ? valuesIn(client.said, upstream.body) : null);
  return [one, other];
}

function stateOf(pair: Pair, from: Side): RowState {
  if (isSame(pair)) return 'same';
  if (pair.client?.kind.startsWith(GATEWAYS)) return 'gateway';
  if (pair.client && pair.upstream) return 'changed';
  return pair[from] === null ? 'added' : 'dropped';
}

/** Report entries contain paths in the client's body, or the path that an absent value would have. */
function isAbout({ path }: ReportEntry, { client, upstream }: Pair): boolean {
  if (client) return client.path !== null && areRelated(path, client.path);
  return upstream?.path === path || upstream?.kind === `setting ${path}`;
}

/** Members of a body that no row covers. */
function unread(
  rows: readonly DiffRow[],
  { body, said }: ReadSide,
  side: Side,
  from: Side,
  left: Set<ReportEntry>,
): readonly DiffRow[] {
  if (!isJsonObject(body) || said === null) return [];
  const named = new Set(rows.flatMap((row) => (row[side]?.path == null ? [] : rootOf(row[side].path))));
  const state = from === 'upstream' ? 'form' : side === from ? 'dropped' : 'added';
  return Object.entries(body).flatMap(([name, value]): readonly DiffRow[] => {
    if (named.has(name) || value === undefined) return [];
    const row = {
      what: name,
      state,
      client: null,
      upstream: null,
      [side]: { path: name, value: shown(value) },
    } as const;
    return [{ ...row, report: side === 'client' ? taken(left, ({ path }) => isWithin(path, name)) : [] }];
  });
}

/** Row for a report entry that matches nothing in either body. */
function reported(entry: ReportEntry): DiffRow {
  return { what: entry.path, state: 'changed', client: null, upstream: null, report: [entry] };
}

function placeOf({ path, value }: ComparedValue, body: JsonValue | null): Place {
  const stands = path === null || body === null ? undefined : valueAt(body, path);
  return { path, value: shown(stands ?? value) };
}

function shown(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value;
  const text = JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : value;
}
