// Moves a data directory to a PostgreSQL database, in pieces of one transaction each. An interrupted move continues
// behind what the database already has. Finally both databases are compared.
import { GatewayError } from '../../canonical/index.ts';
import { bytesOfFiles } from './bytes.ts';
import { rowsOfTable } from './rows.ts';
import type { Source } from './source.ts';
import type { Database } from '../tables/database.ts';
import { addSetting } from '../tables/installation/settings.ts';
import { MOVED_SETTINGS, MOVED_TABLES } from './tables.ts';
import { beginMove, endMove, mayMove, moveFingerprints, type Target } from './target.ts';
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
  /** Names of files whose bytes do not exist. */
  readonly missing: readonly string[];
}

/** A table, or the bytes of files. */
export interface Part {
  readonly name: string;
  /** Number of rows in the source. */
  readonly rows: number;
  /** Moves what is left. @param moved called after each piece with the number of rows that are moved */
  readonly move: (moved: (rows: number) => void) => Promise<void>;
}

type MoveEnds = Pick<MoveOptions, 'source' | 'target' | 'dataDir' | 'withBytes'>;

/**
 * Counts the rows to move and checks that they can be moved, without moving them.
 * @returns rows by part
 * @throws GatewayError `conflict`, as `moveAll`
 */
export async function measureMove(ends: MoveEnds): Promise<Moved['rows']> {
  const totals = totalsOf(partsOf(ends, []));
  await mayMove(ends.target.database, { from: ends.source.identity, totals });
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
  if (!(await beginMove(database, { from: source.identity, totals })))
    return { isNew: false, rows: totals, missing };
  await moveSettings(source, database, secrets);
  const allOf = parts.reduce((sum, { rows }) => sum + rows, 0);
  let before = 0;
  for (const { name: part, rows: of, move } of parts) {
    await move((done) => options.moved({ part, done, of, allDone: before + done, allOf }));
    before += of;
  }
  const found = await differences(source, database);
  if (found.length > 0)
    throw new GatewayError('internal', `the moved data differs from the source: ${found.join('; ')}`);
  await options.last();
  await endMove(database, source.identity);
  return { isNew: true, rows: totals, missing };
}

function partsOf({ source, target, dataDir, withBytes }: MoveEnds, missing: string[]): readonly Part[] {
  const tables = MOVED_TABLES.map((declared) => rowsOfTable(source, target.database, declared));
  if (!withBytes) return tables;
  return [...tables, bytesOfFiles(source, dataDir, target, (name) => void missing.push(name))];
}

function totalsOf(parts: readonly Part[]): Moved['rows'] {
  return Object.fromEntries(parts.map(({ name, rows }) => [name, rows]));
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
