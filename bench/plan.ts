// CPU time of one routing plan with its table, for 1 and 10 endpoints under each policy, with all measurements
// available. `node bin/bun.mjs run bench/plan.ts` prints it, and `npm run bench` judges it.
import type { JsonObject } from '../src/base/json/index.ts';
import { NO_USAGE, Report, type CanonicalRequest } from '../src/canonical/index.ts';
import { buildCatalog, type Catalog } from '../src/catalog/index.ts';
import { findProtocol } from '../src/protocols/index.ts';
import { presets } from '../src/catalog/providers/index.ts';
import { MemoryRoutingState, planRequest, type PlanContext } from '../src/engine/routing/index.ts';
import type { Figures } from './measure.ts';

const NOW = Date.UTC(2026, 10, 21);
const MODEL = 'bench/model';
export const POLICIES = ['priority', 'round_robin', 'least_latency'] as const;
export const CANDIDATES = [1, 10] as const;

export interface PlanFigure {
  readonly policy: (typeof POLICIES)[number];
  readonly candidates: number;
  /** CPU microseconds per plan, median of several rounds. */
  readonly planUs: number;
  /** The same with the table that is stored with the generation. */
  readonly tableUs: number;
}

/** Measures every policy with every number of endpoints. @param rounds number of rounds of 10,000 plans */
export function measurePlans(rounds: number): PlanFigure[] {
  return CANDIDATES.flatMap((candidates) =>
    POLICIES.map((policy) => ({
      policy,
      candidates,
      planUs: measure(policy, candidates, rounds, false),
      tableUs: measure(policy, candidates, rounds, true),
    })),
  );
}

/** The most expensive policy with the most endpoints, including its table, for the report. */
export function planFigures(rounds: number): Figures {
  return { cpuPerRequest: Math.max(...measurePlans(rounds).map(({ tableUs }) => tableUs)) };
}

const PLANS = 10_000;

function measure(policy: string, candidates: number, rounds: number, withTable: boolean): number {
  const clock = { nowMs: NOW };
  const state = new MemoryRoutingState({
    now: () => clock.nowMs,
    breaker: () => ({ failures: 5, windowMs: 30_000, openMs: 15_000 }),
  });
  const catalog = catalogOf(candidates);
  const request = decode({
    model: MODEL,
    messages: [{ role: 'user', content: 'How far is the moon?' }],
    provider: { routing: { type: policy } },
  });
  warm(state, catalog, clock);
  const context: PlanContext = {
    catalog,
    settings: { defaults: {}, taskTypes: {} },
    keyWishes: null,
    projectId: 'key',
    mayUse: () => true,
    state,
    nowMs: clock.nowMs,
    lacking: () => [],
    inputChars: 100,
    report: new Report(),
    peek: false,
  };
  let planned = 0;
  const times: number[] = [];
  // The first round includes compilation.
  for (let round = 0; round <= rounds; round += 1) {
    const before = process.cpuUsage();
    for (let n = 0; n < PLANS; n += 1) {
      const plan = planRequest(request, context);
      planned += withTable ? plan.trace()[0].length : plan.candidates.length;
    }
    const { user, system } = process.cpuUsage(before);
    if (round > 0) times.push((user + system) / PLANS);
  }
  if (planned !== (rounds + 1) * PLANS * candidates) throw new Error('a candidate is missing');
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

/** Records attempts at every endpoint, some failed, so that each measure has a value. */
function warm(state: MemoryRoutingState, catalog: Catalog, clock: { nowMs: number }): void {
  const endpoints = catalog.find(MODEL)?.endpoints ?? [];
  const usage = {
    ...NO_USAGE,
    input: { ...NO_USAGE.input, uncached: 500, cacheRead: 1500 },
    output: { ...NO_USAGE.output, text: 200 },
  };
  for (let n = 0; n < 40; n += 1) {
    for (const [at, endpoint] of endpoints.entries()) {
      const lease = state.begin(endpoint, n % 2 === 0);
      clock.nowMs += 10 + at * 5;
      lease.firstContent();
      clock.nowMs += 200;
      const failed = n % 20 === 19;
      lease.ended({
        failure: failed ? 'upstream_unavailable' : null,
        endpointsFault: failed,
        usage: failed ? null : usage,
      });
    }
  }
}

function decode(body: JsonObject): CanonicalRequest {
  const server = findProtocol('openai-chat')?.server;
  if (!server) throw new Error('no server side');
  return server.decodeRequest(body);
}

function catalogOf(candidates: number): Catalog {
  const names = Array.from({ length: candidates }, (_, at) => `p${at}`);
  const protocols = { 'openai-chat': { baseUrl: 'http://127.0.0.1:9' } };
  return buildCatalog({
    config: {
      providers: Object.fromEntries(names.map((name) => [name, { protocols }])),
      models: [
        {
          id: MODEL,
          quality: 0.8,
          endpoints: names.map((provider, at) => ({
            provider,
            model: 'm',
            price: { input: 1 + at, output: 4 + at, cacheRead: 0.1 },
          })),
        },
      ],
      aliases: {},
    },
    presets,
    sim: null,
    environment: {},
    now: () => NOW,
    refuse(path, message) {
      throw new Error(`${path}: ${message}`);
    },
  });
}

if (import.meta.main) {
  for (const { policy, candidates, planUs, tableUs } of measurePlans(20)) {
    const name = `${policy}, ${candidates} candidate${candidates === 1 ? '' : 's'}`;
    console.log(
      `${name.padEnd(32)}${planUs.toFixed(1).padStart(6)} µs, including the route table ${tableUs.toFixed(1)} µs`,
    );
  }
}
