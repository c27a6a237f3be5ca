// `npm run crash-jobs`: jobs of every kind while processes are killed at random moments. At the end every job has ended once with its
// answer, the ledger has every request that the model billed, and no resumed stream has a gap or a repetition. Exit code 1: not so.
//
//   --jobs N       500
//   --kills N      200, or as many as there is time for
//   --seconds N    in which jobs are asked for and processes killed; 300
//   --seed N       of everything that is left to chance
//   --postgres     two replicas on PostgreSQL and Valkey, whose clocks are 10 s apart; the database is away for 20 s, and Valkey is
//                  flushed. Default: one process on SQLite
//   --logs FOLDER  gets what the processes have said
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../../support/free-port.ts';
import { freshFolder, type Program, runtimePid, startProgram } from '../../support/program.ts';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts';
import { startValkey, type ValkeyProcess } from '../../support/servers/valkey.ts';
import { Chance } from '../../support/simulated-world.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { CLOCK_SHIFTER } from '../matrix/cluster.ts';
import { startBilling } from './upstream.ts';
import { type Accepted, call, KEY, linesOf, modelOf, nextJob, submit, wrongWith } from './work.ts';

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '500' },
    kills: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '300' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    postgres: { type: 'boolean', default: false },
    logs: { type: 'string' },
  },
});
const [jobs, kills, seconds, seed] = [values.jobs, values.kills, values.seconds, values.seed].map(Number) as [
  number,
  number,
  number,
  number,
];
const ADMIN_KEY = 'sk-test-admin-0123456789';
/** How long what is left may take once nobody dies any more, in milliseconds. */
const END_MS = 240_000;
const AWAY_MS = 20_000;
const START_AGAIN_MS = 1_000;
const MOST_STARTS = 60;
/** Longer than what a replica takes to read the marks of its predecessor. */
const DECIDED_MS = 15_000;
const CLOCKS_APART = '+10s';
/** Between two kills, at most, beside what a start takes. */
const MOST_BETWEEN_MS = 1_500;

interface Replica {
  readonly origin: string;
  program: Program | null;
  readonly start: () => Promise<Program>;
}

const chance = new Chance(seed);
const upstream = startBilling(new Chance(seed + 1));
const { folder, remove } = freshFolder();
let postgres: PostgresServer | null = null;
let valkey: ValkeyProcess | null = null;
if (values.postgres) [postgres, valkey] = await Promise.all([startPostgres(), startValkey()]);
const said: string[] = [];

async function replica(name: string, isAhead: boolean): Promise<Replica> {
  const port = await freePort();
  const config = {
    server: { port },
    data_dir: join(folder, name),
    keys: [
      { name: 'test', key: KEY },
      { name: 'admin', key: ADMIN_KEY, roles: ['admin'] },
    ],
    ...(postgres && { database_url: postgres.url, secret: 'ab'.repeat(32) }),
    ...(valkey && { redis_url: valkey.url }),
    providers: { up: { api_key: 'sk-test', protocols: { 'openai-chat': upstream.base } } },
    models: Array.from({ length: jobs }, (_, n) => {
      const model = modelOf(n);
      return { id: `up/${model}`, endpoints: [{ provider: 'up', model, price: { input: 1, output: 4 } }] };
    }),
    // A job may die with nine processes; the fewer run at once, the fewer die with each.
    jobs: { concurrent: 8 },
    batches: { concurrent: 8, max_delay_ms: 0 },
  };
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, JSON.stringify(config));
  const environment =
    isAhead && CLOCK_SHIFTER
      ? { LD_PRELOAD: CLOCK_SHIFTER, FAKETIME: CLOCKS_APART, DONT_FAKE_MONOTONIC: '1' }
      : {};
  const start = (): Promise<Program> =>
    startedPatiently(() => startProgram(['serve', '--config', file], { folder, environment }));
  return { origin: `http://127.0.0.1:${port}`, program: await start(), start };
}

/** Starts a process as a process manager does: a start needs its database. */
async function startedPatiently(start: () => Promise<Program>): Promise<Program> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start();
    } catch (error) {
      if (tries === MOST_STARTS) throw error;
      await Bun.sleep(START_AGAIN_MS);
    }
  }
}

async function killOne(victim: Replica): Promise<void> {
  const { program } = victim;
  if (!program) return;
  victim.program = null;
  process.kill(runtimePid(program.pid), 'SIGKILL');
  said.push(program.err(), (await program.exited).out);
  victim.program = await victim.start();
}

const replicas = [await replica('one', false), ...(values.postgres ? [await replica('two', true)] : [])];
const origin = (): string =>
  chance.of(replicas.filter(({ program }) => program !== null))?.origin ?? replicas[0]?.origin ?? '';

const accepted: Accepted[] = [];
let refused = 0;
const beganAt = performance.now();
const leftMs = (): number => beganAt + seconds * 1000 - performance.now();

async function submitAll(): Promise<void> {
  const asking: Promise<void>[] = [];
  for (let n = 0; n < jobs; n += 1) {
    // Spread over the time in which processes die.
    const dueMs = beganAt + (n / jobs) * seconds * 1000 - performance.now();
    if (dueMs > 0) await Bun.sleep(dueMs);
    while (replicas.every(({ program }) => program === null)) await Bun.sleep(20);
    asking.push(
      submit(origin, nextJob(n, chance)).then(
        (job) => void accepted.push(job),
        () => void (refused += 1),
      ),
    );
  }
  await Promise.all(asking);
}

let killed = 0;
async function killAll(): Promise<void> {
  while (killed < kills && leftMs() > 0) {
    await Bun.sleep(chance.whole(0, MOST_BETWEEN_MS));
    await killOne(chance.of(replicas));
    killed += 1;
  }
}

async function takeAway(): Promise<void> {
  if (!postgres || !valkey) return;
  await Bun.sleep((seconds * 1000) / 4);
  await valkey.send('FLUSHALL');
  await Bun.sleep((seconds * 1000) / 4);
  await postgres.kill();
  await Bun.sleep(AWAY_MS);
  await postgres.start();
  await valkey.send('FLUSHALL');
}

console.log(`seed ${seed}, ${replicas.length} process(es) on ${postgres ? 'PostgreSQL' : 'SQLite'}`);
await Promise.all([submitAll(), killAll(), takeAway()]);
console.log(
  `${killed} kills in ${Math.round((performance.now() - beganAt) / 1000)} s: ${accepted.length} jobs accepted, ${refused} requests ended without an answer`,
);

const admin = { authorization: `Bearer ${ADMIN_KEY}` };
/** A page of a list. A busy process or database may refuse it for a while. */
async function page(path: string): Promise<Json> {
  for (let tries = 1; ; tries += 1) {
    const response = await call(origin(), path, { headers: admin });
    if (response.ok) return (await response.json()) as Json;
    if (tries === MOST_STARTS) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    await Bun.sleep(START_AGAIN_MS);
  }
}

async function pages(path: string): Promise<Json[]> {
  const found: Json[] = [];
  for (let after = ''; ;) {
    const part = await page(`${path}?limit=100${after}`);
    const data = list(part, 'data');
    found.push(...data);
    if (at(part, 'has_more') !== true) return found;
    after = `&after=${String(at(data.at(-1) ?? null, 'id'))}`;
  }
}

const problems: string[] = [];
let all = await pages('/v1/management/jobs');
const until = performance.now() + END_MS;
const isOpen = (job: Json): boolean => ['queued', 'waiting', 'running'].includes(String(at(job, 'state')));
while (all.some(isOpen) && performance.now() < until) {
  await Bun.sleep(500);
  all = await pages('/v1/management/jobs');
}
for (const job of all) if (at(job, 'state') !== 'completed') problems.push(`job ${JSON.stringify(job)}`);
const known = new Set(all.map((job) => String(at(job, 'id'))));
for (const { id, kind } of accepted)
  if (!known.has(id)) problems.push(`${kind} ${id} was accepted, and is not there`);
for (const job of accepted) {
  const wrong = await wrongWith(origin(), job);
  if (wrong !== null) problems.push(wrong);
}
await Bun.sleep(DECIDED_MS);
const records = await pages('/v1/management/generations');
const recorded = new Map<string, number>();
for (const record of records) {
  const model = String(at(record, 'requested_model')).replace('up/', '');
  recorded.set(model, (recorded.get(model) ?? 0) + Number(at(record, 'attempts')));
}
const total = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((a, b) => a + b, 0);
let [twice, lost] = [0, 0];
for (const model of new Set([...upstream.asked.keys(), ...recorded.keys()])) {
  const [billed, known] = [upstream.asked.get(model) ?? 0, recorded.get(model) ?? 0];
  if (billed === known) continue;
  twice += Math.max(0, known - billed);
  lost += Math.max(0, billed - known);
  const of = accepted.find((job) => job.model === `up/${model}`);
  problems.push(
    `${model} (${of?.kind ?? 'not accepted'} ${of?.id ?? ''}): ${billed} requests billed, ${known} in the ledger`,
  );
}
const tries = all.reduce<number>((sum, job) => sum + Number(at(job, 'attempt')), 0);
const streams = accepted.filter(({ read }) => read !== undefined).length;
console.log(
  `${all.length} jobs, ${linesOf(accepted)} lines of batches, ${tries} tries; ${total(upstream.asked)} requests billed, ${total(recorded)} in the ledger: ${twice} too many, ${lost} lost; ${streams} streams resumed`,
);
for (const problem of problems) console.log(problem);
console.log(problems.length === 0 ? 'all is as it should be' : `${problems.length} problems`);
for (const { program } of replicas) {
  said.push(program?.err() ?? '');
  await program?.stop('SIGKILL');
}
if (values.logs !== undefined) writeFileSync(join(values.logs, 'crash-jobs.log'), said.join('\n'));
await Promise.all([upstream.stop(), postgres?.stop(), valkey?.stop()]);
remove();
process.exit(problems.length === 0 ? 0 : 1);
