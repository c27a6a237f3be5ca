// `npm run crash-matrix`: three replicas under mixed load in four protocols, while one thing after another goes wrong, and
// what must hold after each. Exit code 1 when something did not.
//
//   --seconds N   at least; every cause once, by default
//   --seed N      of everything that is left to chance
//   --only WORD   causes whose name has it
//   --streams N   that run while all replicas are replaced; 60, and 0 for none
//   --logs FOLDER gets the logs of the replicas
import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { findProgram } from '../../../bench/processes.ts';
import { aligned } from '../../../bench/report.ts';
import { packTree } from '../../../bench/targets.ts';
import { Chance } from '../../support/simulated-world.ts';
import { POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';
import { VALKEY_PROGRAM } from '../../support/servers/valkey.ts';
import { type Cause, CAUSES } from './causes.ts';
import { lostResponses, missingOf, readLedger, spentOf, wrongConversations, wrongOf } from './checks.ts';
import { type Cluster, startCluster, USD_PER_TOKEN } from './cluster.ts';
import { deployUnderLoad } from './deploy.ts';
import { type Load, type Note, SPENDERS, type Reported, startLoad } from './load.ts';
import { recovered } from './recovery.ts';
import { ANSWER_TOKENS } from './upstream.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '0' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', default: '' },
    streams: { type: 'string', default: '60' },
    logs: { type: 'string' },
  },
});
const seed = Number(values.seed);
/** Size of a budget, in USD: a hundred answers, which the clients spend in a few seconds. */
const BUDGET_USD = 2;
/** Keys with a budget each: no cause takes less than four seconds. */
const MOST_ROUNDS = 20 + Math.ceil(Number(values.seconds) / 4);
/** On a machine that does nothing else. */
const MOST_RECOVERY_MS = 5_000;
/** Before a cause begins, and after it was recovered from. */
const BEFORE_MS = 500;
const AFTER_MS = 500;
/** In which what was on its way must have arrived in the ledger. */
const SETTLING_MS = 15_000;
/** By which clocks may differ that say when a record was made. */
const SKEW_MS = 15_000;

interface Row {
  readonly name: string;
  readonly requests: number;
  readonly answered: number;
  readonly refused: number;
  readonly reported: number;
  /** Reasons that clients received, and how often. */
  readonly reasons: ReadonlyMap<string, number>;
  readonly recoveryMs: number | null;
  readonly slowness: number;
  readonly spent: number;
  /** Requests with an idempotency key whose client got another answer when it asked again. */
  readonly again: number;
  readonly wrong: readonly string[];
}

const budgetName = (at: number): string => `budget-${at}`;

process.exit((await main()) ? 0 : 1);

async function main(): Promise<boolean> {
  const lacking = [
    ...(POSTGRES_PROGRAMS === null ? ['PostgreSQL'] : []),
    ...(VALKEY_PROGRAM === null ? ['Valkey or Redis'] : []),
    ...(findProgram('nginx') === null ? ['nginx'] : []),
  ];
  if (lacking.length > 0) {
    console.log(`skipped: the crash matrix, which needs ${lacking.join(', ')}`);
    return true;
  }
  console.log(`seed ${seed}`);
  packTree(join(import.meta.dirname, '..', '..', '..'));
  const budgets = new Map(Array.from({ length: MOST_ROUNDS }, (_, at) => [budgetName(at), BUDGET_USD]));
  const cluster = await startCluster(budgets);
  try {
    return await matrix(cluster);
  } finally {
    const folder = values.logs;
    if (folder !== undefined) for (const log of cluster.logs) copyFileSync(log, join(folder, basename(log)));
    await cluster.stop();
  }
}

async function matrix(cluster: Cluster): Promise<boolean> {
  const chance = new Chance(seed);
  let round = 0;
  const load = startLoad({ origin: cluster.origin, chance, budget: () => budgetName(round) });
  const causes = CAUSES.filter(({ name }) => name.includes(values.only));
  const rows: Row[] = [];
  const begun = performance.now();
  const wanted = Number(values.seconds) * 1_000;
  do {
    for (const cause of causes) {
      const missing = cause.missing?.(cluster) ?? null;
      if (missing === null) {
        const row = await once(cause, cluster, load, chance, budgetName(round));
        rows.push(row);
        show(row);
        round += 1;
      } else if (rows.length < causes.length) console.log(`skipped: ${cause.name} (${missing})`);
    }
  } while (performance.now() - begun < wanted && round + causes.length <= MOST_ROUNDS);
  await load.stop();
  const rest = [...(await atTheEnd(cluster, load)), ...(await deployed(cluster))];
  for (const what of rest) console.log(`wrong at the end: ${what}`);
  console.log(`\n${table(rows)}\n`);
  const failed = rows.filter(({ wrong }) => wrong.length > 0).length + (rest.length > 0 ? 1 : 0);
  console.log(
    `${rows.length + 1 - failed} passed, ${failed} failed (seed ${seed}, ${Math.round((performance.now() - begun) / 1_000)} s)`,
  );
  return failed === 0;
}

async function once(
  cause: Cause,
  cluster: Cluster,
  { reported }: Load,
  chance: Chance,
  budget: string,
): Promise<Row> {
  const first = reported.notes.length;
  const known = new Set(reported.repeated.keys());
  const fromMs = Date.now() - SKEW_MS;
  const wrong: string[] = [];
  await Bun.sleep(BEFORE_MS);
  await cause.run(cluster, chance);
  const { ms: recoveryMs, slowness, why } = await recovered(cluster);
  if (recoveryMs === null) wrong.push(`not recovered: ${why}`);
  else if (recoveryMs > MOST_RECOVERY_MS * slowness)
    wrong.push(`recovered after ${Math.round(recoveryMs)} ms only (${why})`);
  await Bun.sleep(AFTER_MS);
  const notes = reported.notes.slice(first);
  const origin = cluster.replicas[0]?.origin ?? '';
  const until = performance.now() + SETTLING_MS;
  let ledger = await readLedger(origin, fromMs);
  while (missingOf(ledger, notes, cluster.replicas).length > 0 && performance.now() < until) {
    await Bun.sleep(200);
    ledger = await readLedger(origin, fromMs);
  }
  wrong.push(
    ...missingOf(ledger, notes, cluster.replicas).map((id) => `${id} arrived and is not in the ledger`),
  );
  wrong.push(...wrongOf(ledger, notes));
  const spent = await spentOf(cluster, budget);
  const most = BUDGET_USD * (1 + cause.mayOverspend) + SPENDERS * ANSWER_TOKENS * USD_PER_TOKEN;
  if (Math.max(spent.ledger, spent.upstream) > most + 1e-9)
    wrong.push(`${budget} has ${most}, the ledger says ${spent.ledger}, and the upstream ${spent.upstream}`);
  const again = againOf(reported, known);
  if (again > 0 && !cause.mayAnswerAnew) wrong.push(`${again} idempotency keys got two answers`);
  for (const { received, protocol } of notes)
    if (received.kind === 'untold') wrong.push(`${protocol}: nobody was told: ${received.why}`);
  const count = (kind: string): number => notes.filter(({ received }) => received.kind === kind).length;
  return {
    name: cause.name,
    requests: notes.length,
    answered: count('answered'),
    refused: count('refused'),
    reported: count('told'),
    reasons: reasonsOf(notes),
    recoveryMs,
    slowness,
    spent: spent.upstream,
    again,
    wrong,
  };
}

/** Errors that can be looked for when nothing runs any more. */
async function atTheEnd(cluster: Cluster, { reported }: Load): Promise<string[]> {
  const origin = cluster.replicas.at(-1)?.origin ?? '';
  return [
    ...(await wrongConversations(origin, reported)),
    ...(await lostResponses(origin, reported.stored.slice(-100))),
  ];
}

/** @returns what went wrong while replicas were replaced */
async function deployed(cluster: Cluster): Promise<string[]> {
  const wanted = Number(values.streams);
  if (wanted === 0) return [];
  const { streams, answered, reported, seconds } = await deployUnderLoad(cluster, wanted);
  console.log(
    `${reported.size === 0 ? 'held' : 'FAILED'}: three replicas replaced in ${seconds.toFixed(1)} s, ${wanted} streams running: ${answered} of ${streams} answered`,
  );
  return [...reported].map(([why, count]) => `${count} streams of the deploy: ${why}`);
}

function show({ name, wrong, recoveryMs, requests, reported, reasons }: Row): void {
  const recovery = recoveryMs === null ? 'never' : `${Math.round(recoveryMs)} ms`;
  console.log(
    `${wrong.length === 0 ? 'held' : 'FAILED'}: ${name}: ${requests} requests, ${reported} told, recovered ${recovery}`,
  );
  for (const [reason, count] of reasons) console.log(`  told ${count} times: ${reason}`);
  for (const what of wrong.slice(0, 8)) console.log(`  ${what}`);
}

function againOf({ repeated }: Reported, known: ReadonlySet<string>): number {
  const asked = [...repeated].filter(([name]) => !known.has(name));
  return asked.filter(([, numbers]) => new Set(numbers).size > 1).length;
}

function reasonsOf(notes: readonly Note[]): Map<string, number> {
  const reasons = new Map<string, number>();
  for (const { received } of notes) {
    if (received.kind !== 'told') continue;
    const code =
      /"(?:code|type|status)":\s*"((?!error)\w+)"/.exec(received.why)?.[1] ?? received.why.slice(0, 40);
    const reason = `${received.status} ${code.replaceAll(/\s+/g, ' ')}`;
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  return reasons;
}

function table(rows: readonly Row[]): string {
  const head = [
    '',
    'requests',
    'answered',
    'refused',
    'told',
    'recovery ms',
    'slowness',
    'spent of 2',
    'wrong',
  ];
  return aligned([
    head,
    ...rows.map((row) => [
      row.name,
      String(row.requests),
      String(row.answered),
      String(row.refused),
      String(row.reported),
      row.recoveryMs === null ? 'never' : row.recoveryMs.toFixed(0),
      row.slowness.toFixed(1),
      row.spent.toFixed(2),
      String(row.again),
      String(row.wrong.length),
    ]),
  ]);
}
