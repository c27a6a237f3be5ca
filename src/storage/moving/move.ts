// Moves a data directory to a PostgreSQL database. It is copied in pieces, each in a transaction that also stores the
// progress, so that an interrupted move continues with the next piece. Finally both databases are compared.
import { GatewayError } from '../../canonical/index.ts';
import { filePart } from './file-part.ts';
import { cursorOf, cursorText, type Part, type Piece } from './part.ts';
import { rowParts } from './row-parts.ts';
import type { Source } from './source.ts';
import type { Database } from '../tables/database.ts';
import { addSetting } from '../tables/installation/settings.ts';
import { MOVED_SETTINGS } from './tables.ts';
import {
  beginMove,
  endMove,
  moveFingerprints,
  noteProgress,
  progressOf,
  type Progress,
  type Target,
} from './target.ts';
import { differences } from './verify.ts';

export { openSource, type Source } from './source.ts';
export { openTarget, type Target } from './target.ts';

export interface MoveOptions {
  readonly source: Source;
  readonly target: Target;
  readonly dataDir: string;
  /** Master secrets of the target, newest first. */
  readonly secrets: readonly Uint8Array[];
  /** True if the bytes of files are in the data directory. */
  readonly withBytes: boolean;
  /** Called after each piece. */
  readonly moved: (state: MoveState) => void;
  /** Final steps before the move is complete. They run again if it is interrupted after them. */
  readonly last: () => Promise<void>;
}

export interface MoveState {
  readonly part: string;
  /** Rows of this part. */
  readonly done: number;
  readonly of: number;
  /** Rows of all parts. */
  readonly allDone: number;
  readonly allOf: number;
}

export interface Moved {
  /** False if everything had been moved before. */
  readonly isNew: boolean;
  /** Rows by part. */
  readonly rows: Readonly<Record<string, number>>;
  /** Ids of files whose bytes do not exist. */
  readonly missing: readonly string[];
}

type MoveEnds = Pick<MoveOptions, 'source' | 'target' | 'dataDir' | 'withBytes'>;

/**
 * Counts the rows to move and checks that they can be moved, without moving them.
 * @returns rows by part
 * @throws GatewayError `conflict`, as `moveAll`
 */
export async function measureMove(ends: MoveEnds): Promise<Progress['totals']> {
  const totals = totalsOf(partsOf(ends, []));
  await progressOf(ends.target.database, ends.source.identity, totals);
  return totals;
}

/**
 * Moves everything.
 * @throws GatewayError `conflict` if the target holds other data or the source has changed, `internal` if the databases
 * differ at the end
 */
export async function moveAll(options: MoveOptions): Promise<Moved> {
  const { source, target, secrets } = options;
  const { database } = target;
  const missing: string[] = [];
  const parts = partsOf(options, missing);
  const totals = totalsOf(parts);
  const begun = await progressOf(database, source.identity, totals);
  if (!begun) return { isNew: false, rows: totals, missing };
  await beginMove(database, begun);
  await moveSettings(source, database, secrets);
  let progress = begun;
  const allOf = Object.values(totals).reduce((sum, rows) => sum + rows, 0);
  for (const part of parts) {
    for (;;) {
      const known = progress.parts[part.name];
      const piece = part.next(known ? cursorOf(known.cursor) : null);
      if (!piece) break;
      progress = await movePiece(database, part, piece, progress);
      const allDone = Object.values(progress.parts).reduce((sum, { rows }) => sum + rows, 0);
      const done = progress.parts[part.name]?.rows ?? 0;
      options.moved({ part: part.name, done, of: totals[part.name] ?? 0, allDone, allOf });
    }
  }
  const found = await differences(source, database);
  if (found.length > 0)
    throw new GatewayError('internal', `the moved data differs from the source: ${found.join('; ')}`);
  await options.last();
  await endMove(database, progress);
  return { isNew: true, rows: totals, missing };
}

function partsOf({ source, target, dataDir, withBytes }: MoveEnds, missing: string[]): readonly Part[] {
  const files = filePart(source, dataDir, target.blobs, (id) => void missing.push(id));
  return [...rowParts(source, target.database), ...(withBytes ? [files] : [])];
}

function totalsOf(parts: readonly Part[]): Progress['totals'] {
  return Object.fromEntries(parts.map((part) => [part.name, part.total()]));
}

async function movePiece(
  { transact }: Database,
  { name }: Part,
  { rows, cursor, prepare, write }: Piece,
  before: Progress,
): Promise<Progress> {
  const done = (before.parts[name]?.rows ?? 0) + rows;
  const parts = { ...before.parts, [name]: { cursor: cursorText(cursor), rows: done } };
  const after: Progress = { ...before, parts };
  await prepare?.();
  await transact(function* () {
    yield* noteProgress(before, after);
    yield* write();
  });
  return after;
}

async function moveSettings(
  source: Source,
  { ask }: Database,
  secrets: readonly Uint8Array[],
): Promise<void> {
  const settings = source
    .rows('select name, value from settings')
    .map(({ name, value }) => ({ name: String(name), value: String(value) }));
  const fingerprints = settings.filter(({ name }) => name.startsWith('secret_fingerprint'));
  await ask(() =>
    moveFingerprints(
      fingerprints.map(({ value }) => value),
      secrets,
    ),
  );
  for (const { name, value } of settings)
    if (MOVED_SETTINGS.includes(name)) await ask(() => addSetting(name, value));
}
