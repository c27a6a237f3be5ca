// Durations of the lists of the console over the records of a month: every combination of filter, order and time range of
// the list of requests, its counts, and the reports behind the charts. Run it with a data directory
// (`test/console/busy-month.ts` fills one) or the URL of a PostgreSQL database and the secret of its gateways:
// `node bin/bun.mjs run bench/list-scale.ts DIRECTORY [PATTERN]` or `… postgres://… SECRET [PATTERN]`. Asks the management API
// of a gateway in this process. Prints milliseconds of CPU (with those of the database) and of time, the least of three, and
// the longest time that the event loop was blocked. A pattern selects rows.
import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { LIST_QUESTIONS, RANGES, TABLE_PATHS } from '../test/console/list-questions.ts';
import { ADMIN_KEY, startManaged } from '../test/support/management/scene.ts';

const ROUNDS = 3;
/** Goal in milliseconds for each answer. */
const GOAL_MS = 300;

const [place = '', ...rest] = process.argv.slice(2);
const isPostgres = place.includes('://');
const secret = isPostgres ? rest.shift() : undefined;
const pattern = new RegExp(rest.shift() ?? '');
const gateway = isPostgres
  ? await startManaged({ database_url: place, secret })
  : await startManaged({}, { dataDir: place });
const nowMs = Date.now();

let longestMs = 0;
let lastMs = performance.now();
const watch = setInterval(() => {
  longestMs = Math.max(longestMs, performance.now() - lastMs);
  lastMs = performance.now();
}, 1);

/** Ids of the database's processes that serve this gateway, if they run on this machine. */
async function serverPids(): Promise<readonly number[]> {
  if (!isPostgres) return [];
  const client = new Client({ connectionString: place });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    "select pid from pg_stat_activity where application_name = 'dragoman'",
  );
  await client.end();
  return rows.map(({ pid }) => pid);
}

/** Processor time so far of this process and of those of the database, each in milliseconds. */
function cpuMs(pids: readonly number[]): readonly number[] {
  const { user, system } = process.cpuUsage();
  return [(user + system) / 1_000, ...pids.map(cpuMsOf)];
}

/** Processor time of a process so far in milliseconds; 0: it has ended. */
function cpuMsOf(pid: number): number {
  try {
    // The first number is the time on a processor in nanoseconds.
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return 0;
  }
}

interface Measured {
  readonly what: string;
  readonly wallMs: number;
  readonly cpuMs: number;
}
const all: Measured[] = [];

/** Durations of an answer: the shortest of some rounds. */
async function measured(what: string, path: string): Promise<Measured> {
  let best: Measured = { what, wallMs: Infinity, cpuMs: Infinity };
  for (let round = 0; round < ROUNDS; round += 1) {
    const pids = await serverPids();
    const [fromMs, fromCpuMs] = [performance.now(), cpuMs(pids)];
    const answer = await fetch(`${gateway.origin}/v1/management${path}`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    });
    const text = await answer.text();
    const wallMs = performance.now() - fromMs;
    const usedMs = cpuMs(pids).map((ms, at) => Math.max(0, ms - (fromCpuMs[at] ?? 0)));
    best = {
      what,
      wallMs: Math.min(best.wallMs, wallMs),
      cpuMs: Math.min(
        best.cpuMs,
        usedMs.reduce((sum, ms) => sum + ms, 0),
      ),
    };
    // A statement that takes too long is ended by the gateway: its time counts.
    if (!answer.ok && answer.status !== 503) throw new Error(`${path}: ${text}`);
    if (!answer.ok) break;
  }
  all.push(best);
  return best;
}

function shown({ wallMs, cpuMs: own }: Measured): string {
  return `${own.toFixed(0).padStart(5)}/${wallMs.toFixed(0).padEnd(5)}`;
}

// The first use of each connection and statement is no part of what is measured.
await measured('', '/generations?limit=1');
all.length = 0;
const heads = Object.keys(RANGES).map((range) => range.padStart(6).padEnd(11));
console.log(`${'CPU/wall in ms'.padEnd(60)}${heads.join('')}`);
for (const { what, path } of LIST_QUESTIONS.filter((question) => pattern.test(question.what))) {
  const cells: string[] = [];
  for (const [range, ms] of Object.entries(RANGES)) {
    const from = new Date(nowMs - ms).toISOString();
    cells.push(shown(await measured(`${what}, ${range}`, path(from))));
  }
  console.log(`${what.padEnd(60)}${cells.join('')}`);
}
for (const path of TABLE_PATHS.filter((each) => pattern.test(each)))
  console.log(`${path.padEnd(60)}${shown(await measured(path, path))}`);

clearInterval(watch);
const slow = all.filter(({ wallMs }) => wallMs > GOAL_MS);
const busy = all.filter((each) => each.cpuMs > GOAL_MS);
console.log(
  `${all.length} responses: ${busy.length} of them need more than ${GOAL_MS} ms of CPU, ${slow.length} take longer. The slowest:`,
);
for (const each of all.toSorted((one, other) => other.cpuMs - one.cpuMs).slice(0, 12))
  console.log(`${each.what.padEnd(60)}${shown(each)}`);
console.log(`other work waited at most ${longestMs.toFixed(0)} ms`);
await gateway.stop();
process.exit(0);
