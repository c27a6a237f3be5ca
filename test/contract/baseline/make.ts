// Makes the baseline of this program's schema version: a data directory as a killed process leaves it, with entries that are in the
// journal alone, and a dump of a PostgreSQL database. Run it once, before a schema version is released; see the README here.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openSqlite } from '../../../src/base/runtime/sqlite.ts';
import { ADMIN_KEY } from '../../support/management/scene.ts';
import { freshFolder, type Program, startProgram } from '../../support/program.ts';
import { startPostgres } from '../../support/servers/postgres.ts';
import {
  answerOf,
  archiveOf,
  type Ask,
  type BaselineKind,
  CONFIG,
  type Expected,
  SECRET,
  VERSIONS,
} from './asks.ts';
import { type Filled, fillDays } from './fill.ts';
import { fillDeath, fillJobs } from './fill-jobs.ts';
import { openDirectory, openDump, takeUp } from './open.ts';

/** Tables that say something of running processes and requests alone, or of checks that nobody ran. */
const MAY_BE_EMPTY = [
  'batch_asked',
  'doctor_findings',
  'notices_wanted',
  'record_contents_without_day',
  'records_without_day',
  'replicas',
  'state_deletions',
];

const version = Number(process.argv[2]);
if (!VERSIONS.some((known) => known === version))
  throw new Error(`give the schema version as an argument: one of ${VERSIONS.join(', ')} in asks.ts`);

await makeDirectory();
await makeDump();
process.exit(0);

async function makeDirectory(): Promise<void> {
  const { folder, remove } = freshFolder();
  const dataDir = join(folder, 'data');
  const filled = await fillDays(dataDir, {});
  const first = await serve(dataDir, {});
  const died = await fillDeath(first, filled);
  await first.stop('SIGKILL');
  const program = await serve(dataDir, {});
  const jobs = await fillJobs(program, filled, died);
  // Somebody holds the database: what is answered now is in the journal alone.
  const database = openSqlite(join(dataDir, 'dragoman.db'));
  database.exec('begin immediate');
  const late = await answerOf(program.origin, {
    key: filled.key,
    path: '/v1/responses',
    body: { model: 'acme/small', input: 'late' },
  });
  if (late.status !== 200) throw new Error(`the late answer: ${JSON.stringify(late)}`);
  const { id } = late.answer as { readonly id: string };
  await program.stop('SIGKILL');
  database.exec('rollback');
  expectFilled(
    database
      .prepare("select name from sqlite_master where type = 'table'")
      .all()
      .map(({ name }) => String(name)),
    (name) => Number(database.prepare(`select count(*) as n from "${name}"`).all()[0]?.['n']),
  );
  const [found] = database.prepare(`select count(*) as n from responses where id = '${id}'`).all();
  if (found?.['n'] !== 0)
    throw new Error('the late answer is in the database: its journal would not be read');
  database.close();
  const made = mkdtempSync(join(tmpdir(), 'dragoman-baseline-'));
  cpSync(dataDir, join(made, 'data'), {
    recursive: true,
    filter: (path) => !path.endsWith(join('data', 'console')),
  });
  const asked = { key: filled.key, path: `/v1/responses/${id}`, status: 200 };
  await pack('directory', made, filled, [...jobs, asked]);
  remove();
}

async function makeDump(): Promise<void> {
  const { folder, remove } = freshFolder();
  const server = await startPostgres();
  const place = { database_url: server.url, secret: SECRET };
  const filled = await fillDays(join(folder, 'data'), place);
  const first = await serve(join(folder, 'data'), place);
  const died = await fillDeath(first, filled);
  await first.stop('SIGKILL');
  // Another replica cannot tell whether the request was sent.
  const program = await serve(join(folder, 'other'), place);
  const jobs = await fillJobs(program, filled, died);
  await program.stop('SIGKILL');
  const dump = spawnSync('pg_dump', ['--inserts', '--no-owner', '--no-privileges', server.url], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (dump.status !== 0) throw new Error(dump.stderr);
  const tables = [...dump.stdout.matchAll(/^CREATE TABLE public\.(\w+)/gm)].map(([, name = '']) => name);
  expectFilled(
    tables.filter((name) => !/_\d{8}$|_\d+$/.test(name)),
    (name) => dump.stdout.match(new RegExp(`^INSERT INTO public\\.${name}(?:_\\d+)? `, 'm'))?.length ?? 0,
  );
  const made = mkdtempSync(join(tmpdir(), 'dragoman-baseline-'));
  // Older servers do not know what newer dumps set, and `psql` alone understands its commands.
  const text = dump.stdout.replaceAll(/^(?:SET \w*timeout .*|\\.*)$/gm, '');
  writeFileSync(join(made, 'dump.sql'), text);
  await server.stop();
  await pack('postgres', made, filled, jobs);
  remove();
}

function serve(dataDir: string, place: object): Promise<Program> {
  const folder = dirname(dataDir);
  const config = { ...CONFIG, ...place, server: { admin_key: ADMIN_KEY }, data_dir: dataDir };
  writeFileSync(join(folder, 'dragoman.yaml'), JSON.stringify(config));
  return startProgram(['serve', '--port', '0', '--config', 'dragoman.yaml'], { folder });
}

function expectFilled(tables: readonly string[], count: (table: string) => number): void {
  const empty = tables.filter((name) => !name.startsWith('sqlite_') && count(name) === 0);
  const missing = empty.filter((name) => !MAY_BE_EMPTY.includes(name));
  if (missing.length > 0) throw new Error(`nothing is in ${missing.join(', ')}: let fill.ts write to it`);
}

/** Asks a copy of it for all that it must say later, and packs both. */
async function pack(kind: BaselineKind, made: string, filled: Filled, jobs: readonly Ask[]): Promise<void> {
  const madeAt = Date.now();
  const opened = await (kind === 'directory' ? openDirectory : openDump)(made, madeAt);
  await takeUp(opened, jobs);
  const asks: Ask[] = [];
  for (const ask of [
    ...filled.asks.filter(isRead),
    ...jobs,
    ...filled.asks.filter((each) => !isRead(each)),
  ]) {
    const { status, answer } = await answerOf(opened.origin, ask);
    // An object that is made anew each time has another id: its existence is enough.
    asks.push({ ...ask, status, ...(isRead(ask) && ask.answer === undefined && { answer }) });
  }
  await opened.close();
  const bad = asks.filter(({ status }) => status >= 400);
  console.log(
    `${kind}: ${asks.length} requests, refused: ${bad.map(({ path }) => path).join(', ') || 'none'}`,
  );
  const expected: Expected = { madeAt, asks };
  writeFileSync(join(made, 'expected.json'), JSON.stringify(expected, null, 1));
  const archive = archiveOf(version, kind);
  mkdirSync(dirname(archive), { recursive: true });
  const packed = spawnSync('tar', ['-czf', archive, '-C', made, '.'], { encoding: 'utf8' });
  if (packed.status !== 0) throw new Error(packed.stderr);
  rmSync(made, { recursive: true });
  console.log(`${archive}: ${readFileSync(archive).length} bytes`);
}

function isRead(ask: Pick<Ask, 'body'>): boolean {
  return ask.body === undefined;
}
