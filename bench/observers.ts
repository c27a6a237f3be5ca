// CPU time of the observers of a finished request: metrics, alerts and, with tracing, spans and their JSON. `node
// bin/bun.mjs run bench/observers.ts` prints each, next to an empty loop.
import { BudgetWatch } from '../src/operations/alerts/watch-budgets.ts';
import type { FinishedRequest, RequestObserver } from '../src/engine/index.ts';
import { Limits } from '../src/accounts/limits/index.ts';
import { RequestMetrics } from '../src/operations/metrics/index.ts';
import { systemClock } from '../src/base/runtime/clock.ts';
import { createLogger } from '../src/base/telemetry/log.ts';
import { traceOf } from '../src/base/telemetry/trace-context.ts';
import { TraceExporter } from '../src/operations/traces/index.ts';
import { finishedRequest } from '../test/support/finished-request.ts';

const REQUESTS = 100_000;
const ROUNDS = 7;

/** Twenty models, as on a typical gateway. */
const requests: readonly FinishedRequest[] = Array.from({ length: 20 }, (_, at) => {
  const id = (0x1_0000_0000n + BigInt(at)).toString(16).padStart(32, '0');
  const one = finishedRequest({ model: `a/model-${at}`, usd: 0.001 });
  return { ...one, generation: { ...one.generation, id }, trace: traceOf(() => null, id, 1) };
});

/** CPU microseconds per request. */
async function costOf(observer: RequestObserver, done: () => Promise<unknown>): Promise<number> {
  const from = process.cpuUsage();
  for (let at = 0; at < REQUESTS; at += 1) {
    const one = requests[at % requests.length];
    if (one) observer.finished(one);
    // Exports spans before the queue is full.
    if (at % 1000 === 999) await done();
  }
  const { user, system } = process.cpuUsage(from);
  return (user + system) / REQUESTS;
}

const limits = new Limits({ entriesOf: () => [], limitsProviders: () => false, all: () => [] }, Date.now);
const budgets = new BudgetWatch(limits);
const log = createLogger({ level: 'silent', now: Date.now, write: () => {} });
let written = 0;
function exporter(): TraceExporter {
  return new TraceExporter({
    collector: () => ({ url: 'http://collector/v1/traces', headers: {}, serviceName: 'bench' }),
    fetch: {
      async fetchWhole({ body = '' }) {
        written += body.length;
        return { status: 200, header: () => null, url: '', bytes: Buffer.alloc(0) };
      },
    },
    // Exports only when the benchmark requests it.
    clock: { ...systemClock, after: () => () => {} },
    log,
  });
}

const noDrain = (): Promise<void> => Promise.resolve();
const traces = exporter();
const KINDS: Readonly<Record<string, readonly [RequestObserver, () => Promise<unknown>]>> = {
  'an empty loop': [{ finished: () => {} }, noDrain],
  metrics: [new RequestMetrics((name) => name), noDrain],
  alerts: [{ finished: ({ principal, generation }) => budgets.note(principal, generation) }, noDrain],
  'traces, taken, made and written': [traces, () => traces.flush()],
};

for (const [name, [observer, done]] of Object.entries(KINDS)) {
  await costOf(observer, done);
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await costOf(observer, done));
  rounds.sort((a, b) => a - b);
  process.stdout.write(`${name}: ${(rounds[(ROUNDS - 1) / 2] ?? 0).toFixed(2)} µs of CPU per request\n`);
}
process.stdout.write(`${Math.round(written / REQUESTS / (ROUNDS + 1))} bytes of traces per request\n`);
