// Effect of requests of a project over its limit on another project's latency. `node bin/bun.mjs run
// bench/fairness.ts` prints the latencies of one project alone, and while another one is refused at the same rate,
// and as fast as 64 connections can send, in alternating rounds. Options: --rounds N (6), --seconds N of each (4).
import { parseArgs } from 'node:util';
import { BODY, HEADINGS, Rounds, withGateway } from './beside.ts';
import { aligned } from './report.ts';
import { quantile } from './steady.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '6' }, seconds: { type: 'string', default: '4' } },
});
const seconds = Number(values.seconds);
const FULL_KEY = 'sk-bench-full-0123456789';
const FLOODS = [
  { name: 'during the same number of refused requests', perSecond: 200 },
  // More than possible: each connection sends its next request immediately after a response.
  { name: 'during as many as 64 connections can send', perSecond: 20_000 },
];

const full = {
  keys: [{ name: 'full', key: FULL_KEY, project: 'full' }],
  projects: { full: { limits: [{ requests: 1, per: 'month' }] } },
};

await withGateway(full, async (bench) => {
  const sendLoad = (perSecond: number): ReturnType<typeof bench.run> =>
    bench.run({
      perSecond,
      seconds: seconds + 0.5,
      connections: 64,
      head: `authorization: Bearer ${FULL_KEY}\r\n`,
      body: BODY,
    });
  await Promise.all([bench.good(10), sendLoad(200)]);
  const rounds = new Rounds();
  const refused: Record<string, number> = {};
  /** CPU time of a refusal in microseconds, by round. */
  const costs: number[] = [];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    let from = bench.cpuMs();
    rounds.add('alone', await bench.good(seconds));
    const ownMs = bench.cpuMs() - from;
    for (const { name, perSecond } of FLOODS) {
      from = bench.cpuMs();
      const [latencies, { sent, statuses }] = await Promise.all([bench.good(seconds), sendLoad(perSecond)]);
      rounds.add(name, latencies);
      costs.push((1000 * (bench.cpuMs() - from - ownMs)) / sent);
      for (const [status, count] of Object.entries(statuses))
        refused[status] = (refused[status] ?? 0) + count;
    }
  }
  console.log(`responses of the other project: ${JSON.stringify(refused)}\n`);
  console.log(aligned([HEADINGS, ...rounds.rows()]));
  console.log(`CPU time of a refusal: ${quantile(costs, 0.5).toFixed(0)} µs`);
});
