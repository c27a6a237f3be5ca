// `npm run bench:compare -- TREE TREE…`: compares source trees of Dragoman, and nginx, in interleaved rounds after a
// warm-up. Each tree is packed and started by its own launcher. A tree is a folder, or LABEL=FOLDER. Differences are
// relative to the first. Prints the CPU time per request of all threads and processes, the ratio to nginx in the same
// rounds, and the median of the paired differences with quartiles.
//
//   --only A,B     cases: relay translate messages responses-stored relay-100kb translate-100kb chunks-relay chunks-translate
//   --rounds N     number of rounds (5); the order of the trees rotates
//   --seconds S    duration of each measurement (3)
//   --warm S       seconds of load on each tree before the first round (20), shared by its cases
//   --profile DIR  finally profiles each tree, stores the profiles in DIR and prints them
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Case, findCases } from './cases.ts';
import { measure } from './measure.ts';
import { pinned } from './processes.ts';
import { profileCase } from './profiled.ts';
import { aligned } from './report.ts';
import { quartiles } from './spread.ts';
import { packTree, type Server, startGateway, startMock, startNginx, targetOf } from './targets.ts';

interface Tree {
  readonly label: string;
  readonly root: string;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    warm: { type: 'string', default: '20' },
    profile: { type: 'string' },
  },
});
const trees = positionals.map((text): Tree => {
  const at = text.indexOf('=');
  const root = resolve(text.slice(at + 1));
  return { label: at > 0 ? text.slice(0, at) : basename(root), root };
});
if (trees.length === 0) throw new Error('requires at least one source tree');
const cases = findCases(
  values.only ?? 'relay,translate,messages,responses-stored,relay-100kb,translate-100kb',
);
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const warm = Number(values.warm) / cases.length;

const folder = mkdtempSync(join(tmpdir(), 'dragoman-compare-'));
const servers: Server[] = [];
try {
  await compare();
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

async function compare(): Promise<void> {
  for (const { root } of trees) packTree(root);
  const mock = await started(startMock(folder));
  const nginx = await startNginx(folder, mock.port);
  if (nginx) servers.push(nginx);
  if (!pinned)
    console.log('taskset is not installed, or the machine has only one core. Processes share cores.');
  const gateways: (Tree & { readonly server: Server })[] = [];
  for (const [at, tree] of trees.entries()) {
    const own = join(folder, `tree-${at}`);
    mkdirSync(own);
    const server = await started(startGateway(own, mock.port, { root: tree.root }));
    gateways.push({ ...tree, server });
  }
  for (const { server, label } of gateways)
    for (const each of cases) {
      progress(`warming up ${label}: ${each.name}`);
      await cost(each, server, { warm: 0, seconds: warm });
    }
  /** Microseconds per request or chunk, by case, then by tree (nginx last), one figure per round. */
  const costs = cases.map(() => Array.from({ length: gateways.length + 1 }, (): number[] => []));
  for (let round = 0; round < rounds; round += 1) {
    for (const [row, each] of cases.entries()) {
      progress(`round ${round + 1} of ${rounds}: ${each.name}`);
      const turn = gateways.map((_, at) => (at + round) % gateways.length);
      for (const at of turn)
        costs[row]?.[at]?.push(await cost(each, gateways[at]!.server, { warm: 0.3, seconds }));
      if (nginx) {
        const figures = await measure(each.load, nginx.targets[0]!, folder, { warm: 0.2, seconds: 1.5 });
        costs[row]?.at(-1)?.push(figures.cpuPerRequest ?? figures.cpuPerChunk ?? Number.NaN);
      }
    }
  }
  progress('');
  for (const [row, each] of cases.entries()) console.log(`${caseTable(each, costs[row] ?? [])}\n`);
  for (const { server } of gateways) await server.stop();
  if (values.profile === undefined) return;
  mkdirSync(values.profile, { recursive: true });
  for (const tree of trees)
    for (const each of cases) {
      progress(`profile of ${tree.label}: ${each.name}`);
      const file = join(resolve(values.profile), `${tree.label}-${each.name}.cpuprofile`);
      const times = { warm: Number(values.warm) / 2, seconds };
      const tables = await profileCase(each, folder, mock.port, { ...tree, ...times, file });
      progress('');
      console.log(`${tables}\n`);
    }
}

function cost(each: Case, server: Server, window: Parameters<typeof measure>[3]): Promise<number> {
  return measure(each.load, targetOf(server, each.target), folder, window).then(
    ({ cpuPerRequest, cpuPerChunk }) => cpuPerRequest ?? cpuPerChunk ?? Number.NaN,
  );
}

function caseTable(each: Case, costs: readonly (readonly number[])[]): string {
  const first = costs[0] ?? [];
  const nginx = costs.at(-1) ?? [];
  const labels = [...trees.map(({ label }) => label), 'nginx'];
  const rows = labels.flatMap((label, at) => {
    const own = costs[at] ?? [];
    if (own.length === 0) return [];
    const { low, middle, high } = quartiles(own);
    const ratio = quartiles(own.map((value, round) => value / (nginx[round] ?? Number.NaN))).middle;
    const difference = quartiles(own.map((value, round) => value - (first[round] ?? Number.NaN)));
    const isOther = at > 0 && at < trees.length;
    return [
      [
        label,
        middle.toFixed(1),
        `${low.toFixed(1)}…${high.toFixed(1)}`,
        nginx.length > 0 ? `${ratio.toFixed(2)}×` : '',
        isOther
          ? `${signed(difference.middle)} (${signed((100 * difference.middle) / middleOf(first))} %)`
          : '',
        isOther ? `${signed(difference.low)}…${signed(difference.high)}` : '',
      ],
    ];
  });
  const unit = each.load.stream ? 'µs/chunk' : 'µs/request';
  const head = ['', unit, 'quartiles', '× nginx', `against ${trees[0]?.label}`, 'quartiles'];
  return `${each.name}: ${each.load.title}, ${rounds} rounds of ${seconds} s\n${aligned([head, ...rows])}`;
}

function middleOf(figures: readonly number[]): number {
  return quartiles(figures).middle;
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)}`;
}

async function started<T extends Server>(server: Promise<T>): Promise<T> {
  servers.push(await server);
  return server;
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
