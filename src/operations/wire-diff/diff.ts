// The difference between what a client and an upstream said, row by row, each with what the translation report says of it.
import { isJsonObject, type JsonValue } from '../../base/json/index.ts';
import type { ReportEntry } from '../../canonical/index.ts';
import { areRelated, isWithin, rootOf, valueAt } from './json-path.ts';
import { isSame, matched, type Pair } from './match.ts';
import type { ReadSide } from './read-sides.ts';
import type { Said } from './said.ts';
import { heldIn } from './values.ts';

/** Values as they stand in the bodies themselves. */
export interface Place {
  /** JSON path; null where it has none, as in a stream, or what an address says. */
  readonly path: string | null;
  /** Long texts are cut. */
  readonly value: JsonValue;
}

/**
 * `same`: both say it. `changed`: both say something of it. `dropped`: only whoever said it first: the client in a request, the
 * upstream in an answer. `added`: only the other. `gateway`: for the gateway itself, which passes it on to nobody. `form`: a member
 * of an answer that belongs to the form of one protocol.
 */
export const ROW_STATES = ['same', 'changed', 'dropped', 'added', 'gateway', 'form'] as const;
export type RowState = (typeof ROW_STATES)[number];
type Side = 'client' | 'upstream';

export interface DiffRow {
  readonly what: string;
  readonly state: RowState;
  readonly client: Place | null;
  readonly upstream: Place | null;
  /** Entry of the translation report. */
  readonly report: readonly ReportEntry[];
}

export interface Diff {
  readonly rows: readonly DiffRow[];
  /** True where one body could only be searched for the values of the other. */
  readonly isByValue: boolean;
}

/** Longest text that is shown, in characters. */
const LONGEST = 20_000;
/** A setting of this name is for the gateway alone. */
const GATEWAYS = 'setting gateway';

export interface Sides {
  readonly client: ReadSide;
  readonly upstream: ReadSide;
  /** Side that said it first. */
  readonly from: Side;
  readonly report: readonly ReportEntry[];
}

/** @returns null where neither side can be read */
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

/** Takes the entries of the report that a row is about; none is told twice. */
function taken(left: Set<ReportEntry>, isIt: (entry: ReportEntry) => boolean): readonly ReportEntry[] {
  const found = [...left].filter(isIt);
  for (const entry of found) left.delete(entry);
  return found;
}

/** Values that no codec reads are looked for among those of the other side. */
function completed(
  client: ReadSide,
  upstream: ReadSide,
): readonly [readonly Said[] | null, readonly Said[] | null] {
  const one =
    client.said ?? (upstream.said && client.body !== null ? heldIn(upstream.said, client.body) : null);
  const other =
    upstream.said ?? (client.said && upstream.body !== null ? heldIn(client.said, upstream.body) : null);
  return [one, other];
}

function stateOf(pair: Pair, from: Side): RowState {
  if (isSame(pair)) return 'same';
  if (pair.client?.kind.startsWith(GATEWAYS)) return 'gateway';
  if (pair.client && pair.upstream) return 'changed';
  return pair[from] === null ? 'added' : 'dropped';
}

/** Entries name places in the client's body; of what is not in it, the place that it would have. */
function isAbout({ path }: ReportEntry, { client, upstream }: Pair): boolean {
  if (client) return client.path !== null && areRelated(path, client.path);
  return upstream?.path === path || upstream?.kind === `setting ${path}`;
}

/** Members of a body that nothing of the above stands in. */
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

/** An entry of which neither body has anything more. */
function reported(entry: ReportEntry): DiffRow {
  return { what: entry.path, state: 'changed', client: null, upstream: null, report: [entry] };
}

function placeOf({ path, value }: Said, body: JsonValue | null): Place {
  const stands = path === null || body === null ? undefined : valueAt(body, path);
  return { path, value: shown(stands ?? value) };
}

function shown(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value;
  const text = JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : value;
}
