// Folder of a backup: `backup.json` is its manifest, and `SHA256SUMS` has the checksums of all files in the format of
// `sha256sum`. It is written last, so that a folder without it is an incomplete backup.
import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { asObject, isJsonObject, parseJson } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { Kind } from '../tables/table.ts';
import type { UnixMs } from '../../base/units.ts';

const SUMS = 'SHA256SUMS';
const MANIFEST = 'backup.json';
/** Format version. Unknown versions are refused. */
const FORMAT = 1;

/** Maximum size of `SHA256SUMS`: enough for two million files. */
const MOST_SUMS_BYTES = 256_000_000;
const MOST_MANIFEST_BYTES = 16_000_000;
/** Files that a backup of each database may contain. Files of a running database are not among them. */
const OWN_FILES: Readonly<Record<Kind, RegExp>> = {
  sqlite: /^(dragoman\.db|secret\.key|capabilities\.json|catalog\.json|(files|files-to-send|journal)\/.+)$/,
  postgres: /^tables\/\w+\.jsonl\.gz$/,
};
const NAME = /^[a-z_]\w{0,62}$/;
/** Statement for a partition as PostgreSQL formats it. The only kind of statement that is run from a backup. */
const PARTITION =
  /^create table if not exists [a-z_]\w* partition of [a-z_]\w* FOR VALUES FROM \(('\\x[\da-f]*'|MINVALUE)\) TO \(('\\x[\da-f]*'|MAXVALUE)\)$/;

export interface Manifest {
  readonly format: number;
  /** Version of the program that created the backup. */
  readonly program: string;
  readonly database: Kind;
  readonly schemaVersion: number;
  readonly madeAt: UnixMs;
  /** Number of rows per table. */
  readonly rows: Readonly<Record<string, number>>;
  /** PostgreSQL: statements that create the partitions. */
  readonly partitions: readonly string[];
}

/** Latest time of a JavaScript date in Unix milliseconds. */
const LAST_MS = 8.64e15;
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** Validation of each member of a manifest. */
const IS: Readonly<Record<keyof Manifest, (value: unknown) => boolean>> = {
  format: isCount,
  program: (value) => typeof value === 'string' && /^[\w.+-]{1,64}$/.test(value),
  database: (value) => value === 'sqlite' || value === 'postgres',
  schemaVersion: isCount,
  madeAt: (value) => isCount(value) && Number(value) <= LAST_MS,
  rows: (value) =>
    isJsonObject(value) && Object.entries(value).every(([name, rows]) => NAME.test(name) && isCount(rows)),
  partitions: (value) =>
    Array.isArray(value) && value.every((each) => typeof each === 'string' && PARTITION.test(each)),
};

/** Creates the folder of a backup. @throws GatewayError `conflict` if it is not empty */
export function makeFolder(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new GatewayError('conflict', `${folder} is not empty. Use an empty or new folder.`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** Completes a backup: writes manifest and checksums. @returns total bytes of all files */
export async function seal(folder: string, manifest: Omit<Manifest, 'format'>): Promise<number> {
  const text = JSON.stringify({ format: FORMAT, ...manifest }, null, 2);
  writeFileSync(join(folder, MANIFEST), `${text}\n`, { mode: 0o600 });
  const lines: string[] = [];
  let bytes = 0;
  for (const file of filesIn(folder)) {
    lines.push(`${await sumOf(join(folder, file))}  ${file}\n`);
    bytes += statSync(join(folder, file)).size;
  }
  writeFileSync(join(folder, SUMS), lines.join(''), { mode: 0o600, flush: true });
  return bytes;
}

/**
 * Reads a manifest, and verifies the checksums of all files. Never reads outside of the folder.
 * @throws GatewayError `conflict` if the backup is incomplete, damaged, or of an unknown format
 */
export async function verified(folder: string): Promise<Manifest> {
  const files = new Set(filesIn(folder, true));
  const sums = readText(folder, SUMS, MOST_SUMS_BYTES);
  if (sums === null)
    throw refused(`${folder} has no ${SUMS}: it is not a backup, or the backup was interrupted`);
  const listed = new Set<string>();
  for (const line of sums.split('\n').filter((text) => text !== '')) {
    const [, sum = '', file = ''] = /^([\da-f]{64}) {2}(.+)$/.exec(line) ?? [];
    if (file === '') throw refused(`the backup is damaged: ${SUMS} has an invalid line`);
    if (!files.has(file)) throw refused(`the backup is damaged: ${file} is missing`);
    if ((await sumOf(join(folder, file))) !== sum)
      throw refused(`the backup is damaged: the SHA-256 checksum of ${file} does not match`);
    listed.add(file);
  }
  if (!listed.has(MANIFEST)) throw refused(`the backup is damaged: ${MANIFEST} is missing`);
  const manifest = manifestOf(readText(folder, MANIFEST, MOST_MANIFEST_BYTES) ?? '');
  const isOwn = OWN_FILES[manifest.database];
  for (const file of files) {
    if (file !== MANIFEST && !isOwn.test(file))
      throw refused(`${file} does not belong to the backup. Move it away.`);
    if (!listed.has(file)) throw refused(`the backup is damaged: ${file} is not in ${SUMS}`);
  }
  return manifest;
}

/**
 * Files of a folder, recursively, as sorted paths with `/`, without the checksums themselves. Links are not followed.
 * @param isStrict true: refuses anything other than files and folders
 * @throws GatewayError `conflict`
 */
export function filesIn(folder: string, isStrict = false): readonly string[] {
  const found: string[] = [];
  const look = (path: string): void => {
    for (const entry of readdirSync(join(folder, path), { withFileTypes: true })) {
      const name = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) look(name);
      else if (entry.isFile()) found.push(name);
      else if (isStrict)
        throw refused(`${name} is a link or a device. A backup contains only files and folders.`);
    }
  };
  if (existsSync(folder)) look('');
  return found.filter((file) => file !== SUMS).toSorted();
}

/** Parses a manifest. @throws GatewayError `conflict` if it is invalid */
function manifestOf(text: string): Manifest {
  const said = asObject(parseJson(text));
  const wrong = (Object.keys(IS) as (keyof Manifest)[]).filter((name) => !IS[name](said[name]));
  if (wrong.includes('format') || wrong.includes('program'))
    throw refused(`the backup is damaged: ${MANIFEST} has no format or no program version`);
  const manifest = said as unknown as Manifest;
  if (manifest.format !== FORMAT)
    throw refused(
      `the backup has format ${manifest.format}, but this program supports format ${FORMAT}. Use Dragoman ${manifest.program}, which created it.`,
    );
  if (wrong.length > 0) throw refused(`the backup is damaged: \`${wrong[0]}\` of ${MANIFEST} is invalid`);
  return manifest;
}

export function refused(message: string): GatewayError {
  return new GatewayError('conflict', message);
}

async function sumOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of createReadStream(file)) hash.update(bytes as Uint8Array);
  return hash.digest('hex');
}

/** Reads a file; null if it does not exist. @throws GatewayError `conflict` if it is too large */
function readText(folder: string, name: string, mostBytes: number): string | null {
  const file = join(folder, name);
  if (!existsSync(file)) return null;
  if (statSync(file).size > mostBytes) throw refused(`the backup is damaged: ${name} is too large`);
  return readFileSync(file, 'utf8');
}
