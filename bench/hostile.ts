// Effect of attackers on the gateway's memory and on other clients' latency: first with thousands of wrong keys,
// then with new end user names. `node bin/bun.mjs run bench/hostile.ts` prints the latencies of another client, the
// gateway's memory before and after, and the statuses of responses. Options: --keys N per second (10000), --seconds N
// (10), --rounds N (2; 0: none), --users N in total (1000000; 0: none).
import { parseArgs } from 'node:util';
import { type Bench, BODY, HEADINGS, Rounds, withGateway } from './beside.ts';
import { aligned } from './report.ts';
import { quantile } from './steady.ts';

const { values } = parseArgs({
  options: {
    keys: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '2' },
    users: { type: 'string', default: '1000000' },
  },
});
const seconds = Number(values.seconds);
/** Number of attackers' connections: the maximum number of responses that can be delayed. */
const ATTACKER_CONNECTIONS = 10_000;
/** Requests with new end users between two readings of memory. */
const STEP = 100_000;
/** Keys of the attackers, each of its own project, because refusals of a single one would be delayed too much. */
const KEYS = Array.from({ length: 100 }, (_, at) => String(at).padStart(2, '0'));
/**
 * Number of projects that still have quota: two requests per end user. The others are refused, which costs an
 * attacker nothing.
 */
const WITH_ROOM = 20;
const keyOf = (number: string): string => `sk-bench-users-0123456789-${number}`;
const EACH = { requests: 2, per: 'day', each: 'end_user' };

const named = {
  keys: KEYS.map((at) => ({ name: `named ${at}`, key: keyOf(at), project: `named-${at}`, limits: [EACH] })),
  projects: Object.fromEntries(
    KEYS.map((at) => [
      `named-${at}`,
      Number(at) < WITH_ROOM ? {} : { limits: [{ requests: 1, per: 'month' }] },
    ]),
  ),
};

await withGateway(named, async (bench) => {
  await bench.good(10);
  if (Number(values.rounds) > 0) await wrongKeys(bench);
  if (Number(values.users) > 0) await endUsers(bench);
});

async function wrongKeys(bench: Bench): Promise<void> {
  const rounds = new Rounds();
  const statuses: Record<string, number> = {};
  let sent = 0;
  const before = bench.resident();
  for (let round = 0; round < Number(values.rounds); round += 1) {
    rounds.add('alone', await bench.good(seconds));
    const [latencies, flood] = await Promise.all([
      bench.good(seconds),
      bench.run({
        perSecond: Number(values.keys),
        seconds,
        connections: ATTACKER_CONNECTIONS,
        head: 'authorization: Bearer sk-wrong-#########\r\n',
        body: BODY,
      }),
    ]);
    sent += flood.sent;
    for (const [status, count] of Object.entries(flood.statuses))
      statuses[status] = (statuses[status] ?? 0) + count;
    rounds.add('during requests with wrong keys', latencies);
  }
  const perSecond = sent / seconds / Number(values.rounds);
  console.log(
    `wrong keys: ${perSecond.toFixed(0)} requests per second, responses ${JSON.stringify(statuses)}`,
  );
  console.log(`resident memory: ${before.toFixed(0)} MB before, ${bench.resident().toFixed(0)} MB after\n`);
  console.log(aligned([HEADINGS, ...rounds.rows()]));
}

/**
 * Sends one request per end user. Then the first ones exceed their limit, although their counters were evicted by
 * then.
 */
async function endUsers(bench: Bench): Promise<void> {
  const users = Number(values.users);
  const load = {
    perSecond: 20_000,
    connections: 128,
    cycle: KEYS.length,
    head: `authorization: Bearer ${keyOf('@@')}\r\n`,
    body: BODY.replace('"max_tokens"', '"user":"somebody #########","max_tokens"'),
  };
  const begun = performance.now();
  const rows = [['names', 'accepted', 'refused', 'seconds', 'resident MB', 'another project: p50 ms']];
  rows.push(['0', '', '', '', bench.resident().toFixed(0), '']);
  for (let from = 0; from < users;) {
    const most = Math.min(STEP, users - from);
    const { sent, statuses } = await bench.run({ ...load, from, most, seconds: 600 });
    from += sent;
    rows.push([
      String(from),
      String(statuses['200'] ?? 0),
      String(statuses['429'] ?? 0),
      ((performance.now() - begun) / 1000).toFixed(0),
      bench.resident().toFixed(0),
      quantile(await bench.good(1), 0.5).toFixed(2),
    ]);
  }
  console.log(
    `\nnew end users, one request each, with ${KEYS.length} keys, of which ${WITH_ROOM} have capacity`,
  );
  console.log(aligned(rows));
  const again = { ...load, from: 0, most: 100, seconds: 60 };
  const statuses = [await bench.run(again), await bench.run(again)].map((result) => result.statuses);
  console.log(
    `the first hundred two more times, ${WITH_ROOM} of them within their limit once: ${JSON.stringify(statuses)}`,
  );
}
