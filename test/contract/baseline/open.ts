// Opens a baseline with the program of now, at the time at which it was made: what has an age keeps it.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type ManagedGateway, startManaged } from '../../support/management/scene.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventually } from '../../support/program.ts';
import { freshPostgres } from '../../support/servers/postgres.ts';
import { answerOf, archiveOf, type BaselineKind, CONFIG, type Expected, SECRET, sendsWords } from './asks.ts';

export interface Opened extends ManagedGateway {
  readonly clock: ManualClock;
  /** Lets the time pass in which a process with the data directory of a killed one may return, and waits for what follows. */
  abandonMarks(): Promise<void>;
}

/** Seconds after which the job ran when the baselines were made. */
const LOOKS = 2;
/** Looks between two seconds of a job that is later than that. */
const RARELY = 100;
/** Milliseconds until the interrupted try of the job is recorded. */
const DECIDED_MS = 5_000;
/** Path of the job that ran when the process was killed. */
const JOB = '/v1/management/jobs/resp_';
let databases = 0;

/** Opens the data directory of an unpacked baseline: a copy of it. @param madeAt Unix milliseconds */
export async function openDirectory(folder: string, madeAt: number): Promise<Opened> {
  const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-baseline-'));
  cpSync(join(folder, 'data'), dataDir, { recursive: true });
  const gateway = await open(madeAt, {}, dataDir);
  return { ...gateway, abandonMarks: async () => gateway.clock.advance(DECIDED_MS) };
}

/** Opens the dump of an unpacked baseline, in a database of its own. @param madeAt Unix milliseconds */
export async function openDump(folder: string, madeAt: number): Promise<Opened> {
  const url = new URL(await freshPostgres());
  url.search = '';
  const name = `baseline_${process.pid}_${(databases += 1)}`;
  await run(url.href, `create database ${name}`);
  url.pathname = `/${name}`;
  await run(url.href, readFileSync(join(folder, 'dump.sql'), 'utf8'));
  const gateway = await open(madeAt, { database_url: url.href, secret: SECRET });
  return {
    ...gateway,
    async abandonMarks() {
      // The database's clock decides.
      await run(url.href, 'update interrupted_tries set at = 0');
      gateway.clock.advance(DECIDED_MS);
      await eventually(
        'all interrupted tries are decided',
        async () => (await run(url.href, 'select 1 from interrupted_tries')) === 0,
      );
    },
  };
}

/** Waits until the job that ran when the process was killed runs again. @param asks as they stand beside the baseline */
export async function takeUp({ origin, clock, abandonMarks }: Opened, asks: Expected['asks']): Promise<void> {
  const asked = asks.find(({ path }) => path.startsWith(JOB));
  const { key = '' } = asks.find(({ path }) => path.startsWith('/v1/responses/')) ?? {};
  if (!asked) throw new Error('no job ran');
  // Older baselines do not say which try it is: the second.
  const { attempt: wanted = 2 } = asked.answer as { readonly attempt?: number };
  let looks = 0;
  // So much time had passed when the answers were noted, some of which say since when.
  const passes = (): void => clock.advance(1_000);
  await eventually(
    'the job is taken up',
    async () => {
      looks += 1;
      if (looks <= LOOKS || looks % RARELY === 0) passes();
      const { state, attempt } = (await answerOf(origin, asked)).answer as Record<string, unknown>;
      return state === 'running' && attempt === wanted;
    },
    60_000,
  );
  for (; looks < LOOKS; looks += 1) passes();
  // The try before is settled before the upstream is called again. A reader that comes before the stream looks for it by the clock.
  const said = sendsWords(origin, key, `resp_${asked.path.slice(JOB.length)}`);
  let isSaid = false;
  void said.finally(() => (isSaid = true)).catch(() => {});
  await eventually('the upstream sends words', () => {
    looks += 1;
    if (looks % RARELY === 0) passes();
    return isSaid;
  });
  await said;
  await abandonMarks();
}

/** Unpacks a baseline into a folder. @returns what it must say */
export function unpack(version: number, kind: BaselineKind, folder: string): Expected {
  const unpacked = spawnSync('tar', ['-xzf', archiveOf(version, kind), '-C', folder], { encoding: 'utf8' });
  if (unpacked.status !== 0) throw new Error(unpacked.stderr);
  return JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as Expected;
}

async function open(madeAt: number, place: object, dataDir?: string): Promise<Omit<Opened, 'abandonMarks'>> {
  // The lease of what ran when the process was killed has run out.
  const clock = new ManualClock(madeAt + 60_000 - DECIDED_MS);
  const gateway = await startManaged({ ...CONFIG, ...place }, { clock, ...(dataDir && { dataDir }) });
  return { ...gateway, clock };
}

/** @returns number of rows of the last statement */
async function run(connectionString: string, statements: string): Promise<number> {
  const client = new Client({ connectionString });
  await client.connect();
  const { rowCount } = await client.query(statements);
  await client.end();
  return rowCount ?? 0;
}
