// Plays every row of the fault table: over each protocol of clients and upstreams, in both lanes, streamed and not,
// with answers held back and not. What upstreams saw, what the client got and what the records say must be as the row
// says.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { shareOf } from '../../support/share.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { CLIENTS, type ClientProtocol, type Received } from '../../support/upstreams/client-dialects.ts';
import { UPSTREAM_PROTOCOLS, type UpstreamProtocol } from '../../support/upstreams/dialects.ts';
import {
  providerAt,
  recordOf,
  startScene,
  type Scene,
} from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { DEAD_ORIGIN, type Answer } from '../../support/upstreams/scripted-upstream.ts';
import { FAULTS } from './fault-table.ts';
import {
  markOf,
  SAID,
  sound,
  stageOf,
  STATUSES,
  type Fault,
  type FaultModel,
  type Speaker,
  type Stage,
} from './fault.ts';

type Lane = 'relay' | 'translate';
interface Way {
  readonly client: ClientProtocol;
  readonly upstream: UpstreamProtocol;
  readonly lane: Lane;
}
const WAYS: readonly Way[] = (Object.keys(CLIENTS) as ClientProtocol[]).flatMap((client) =>
  UPSTREAM_PROTOCOLS.flatMap((upstream): Way[] => {
    const translated: Way = { client, upstream, lane: 'translate' };
    return upstream === client ? [{ ...translated, lane: 'relay' }, translated] : [translated];
  }),
);

const SPEAKERS = ['first', 'second'] as const;
const clock = new ArmedClock();
const scenes: Partial<Record<Lane, Scene>> = {};

beforeAll(async () => {
  const dead = providerAt(DEAD_ORIGIN);
  for (const lane of ['relay', 'translate'] as const) {
    scenes[lane] = await startScene(SPEAKERS, {
      clock,
      faithful: lane === 'relay',
      config: { providers: { dead }, models: UPSTREAM_PROTOCOLS.flatMap(modelsFor) },
    });
  }
});
// Pauses that endpoints asked for are over by the next test.
afterEach(() => clock.advance(600_000));
afterAll(async () => {
  for (const scene of Object.values(scenes)) await scene[Symbol.asyncDispose]();
});

function modelsFor(protocol: UpstreamProtocol): object[] {
  const endpoint = (provider: string, more: object = {}): object => ({
    provider,
    model: 'm',
    protocol,
    price: { input: 1, output: 4 },
    ...more,
  });
  const model = (name: string, endpoints: readonly object[], contextLength = 1000): object => ({
    id: `${protocol}/${name}`,
    context_length: contextLength,
    endpoints,
  });
  const prefill = { quirks: { prefill: 'plain' } };
  return [
    model('two', [endpoint('first'), endpoint('second')]),
    model('one', [endpoint('first')]),
    model('dead', [endpoint('dead'), endpoint('second')]),
    model('small', [endpoint('first')]),
    model('large', [endpoint('second')], 2000),
    // An endpoint that refuses to continue is remembered: each way needs endpoints of its own.
    ...Object.keys(CLIENTS).map((client) =>
      model(`begun-${client}`, [endpoint('first', prefill), endpoint('second', prefill)]),
    ),
  ];
}

interface Ask {
  readonly model: string;
  readonly provider: Readonly<Record<string, unknown>>;
}

function askFor(name: FaultModel, { client, upstream }: Way): Ask {
  switch (name) {
    case 'fallback':
      return { model: `${upstream}/small`, provider: { fallback: `${upstream}/large` } };
    case 'prefill':
      return { model: `${upstream}/begun-${client}`, provider: {} };
    default:
      return { model: `${upstream}/${name}`, provider: {} };
  }
}

/** An attempt as the upstreams saw it: the endpoint and the time. */
interface Sighting {
  readonly speaker: Speaker;
  readonly atMs: number;
}

interface Play {
  readonly response: Response;
  readonly text: string;
  readonly sightings: readonly Sighting[];
  readonly record: Json;
}

async function play(way: Way, fault: Fault, stage: Stage, safety: string): Promise<Play> {
  const scene = scenes[way.lane];
  if (!scene) throw new Error('no scene');
  const { path, ask } = CLIENTS[way.client];
  const { model, provider } = askFor(fault.model ?? 'two', way);
  const address = path(model, stage.stream);
  const body = {
    ...ask(model, stage.stream),
    provider: { ...provider, ...(stage.stream ? { stream_safety: safety } : {}) },
  };
  const first = scene.upstream('first');
  for (const name of SPEAKERS) await scene.upstream(name).dropConnections();
  if (fault.warm) {
    first.script(sound(stage, 'first'));
    await (await scene.gateway.post(address, body)).text();
  }
  const sightings: Sighting[] = [];
  const seen = (speaker: Speaker, answers: readonly Answer[]): Answer[] =>
    answers.map((answer) => (exchange) => {
      sightings.push({ speaker, atMs: clock.now() });
      answer(exchange);
    });
  first.script(...seen('first', fault.first(stage)));
  scene.upstream('second').script(...seen('second', fault.second?.(stage) ?? [sound(stage, 'second')]));

  clock.impatient = true;
  try {
    const asked = scene.gateway.post(address, body);
    if (fault.silence) {
      const exchange = await first.arrived(1);
      // A round trip: whatever was on its way to the gateway before it has been read after it.
      await (await scene.gateway.get('/files')).text();
      if (fault.silence.shown && safety !== 'buffer') await asked;
      clock.advance(fault.silence.ms);
      fault.silence.next?.(exchange, stage);
    }
    const response = await asked;
    const text = await response.text();
    return { response, text, sightings, record: await recordOf(scene.gateway, response) };
  } finally {
    clock.impatient = false;
  }
}

function expectClient(
  { client, lane }: Way,
  fault: Fault,
  stage: Stage,
  { response, text, record }: Play,
): void {
  const received: Received = CLIENTS[client].receive(stage.stream && response.status === 200, text);
  const wanted = fault.client;
  // The outcome is never in doubt: an end without an error, or an error without an end.
  expect(received.complete).toBe(received.error === null);
  if ('refused' in wanted) {
    const { refused, relayed } = wanted;
    const native = typeof refused === 'number' ? refused : STATUSES[refused][client];
    const status = lane === 'relay' && relayed !== undefined ? relayed : native;
    expect(response.status).toBe(status);
    expect(received.text).toBe('');
    expect(received.error ?? '').toContain(wanted.words ?? '');
    expect(response.headers.get('retry-after')).toBe(wanted.retryAfterSeconds?.toString() ?? null);
    expect(at(record, 'status')).toBe(status);
    expect(at(record, 'provider')).toBeNull();
    expect(at(record, 'error', 'kind')).toBeString();
    return;
  }
  expect(response.status).toBe(200);
  expect(received.starts).toBe(1);
  if ('broken' in wanted) {
    expect(received.text).toBe(SAID.first[0]);
    expect(received.error).toBeString();
    // The client does not see what a second endpoint said about being asked to continue.
    expect(text).not.toContain('prefill');
    expect(at(record, 'error', 'kind')).toBe(wanted.broken);
    expect(at(record, 'provider')).toBe('first');
    return;
  }
  const { answer } = wanted;
  const said = answer === 'both' ? SAID.first[0] + SAID.second[1] : SAID[answer].join('');
  expect(received).toEqual({ text: wanted.text ?? said, complete: true, error: null, starts: 1 });
  expect(at(record, 'error')).toBeNull();
  expect(at(record, 'status')).toBe(200);
  expect(at(record, 'provider')).toBe(answer === 'both' ? 'second' : answer);
  // Nothing of an attempt that failed before it is in the answer: no id, no word.
  if (answer === 'second') {
    expect(text).not.toContain(markOf('first'));
    expect(text).not.toContain(SAID.first[0]);
  }
}

function expectRecords(fault: Fault, { record, sightings, response }: Play): void {
  const attempts = list(record, 'attempts');
  const reported = attempts.map((attempt) => {
    const outcome = at(attempt, 'outcome') === 'completed' ? 'completed' : at(attempt, 'error', 'kind');
    return `${at(attempt, 'provider')} ${outcome}`;
  });
  expect(reported).toEqual([...fault.attempts]);
  const starts = attempts.map((attempt) => Date.parse(String(at(attempt, 'started_at'))));
  const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
  expect(gaps).toEqual([...(fault.gapsMs ?? gaps.map(() => 0))]);
  // The upstreams saw these attempts and no others, at these times.
  const asked = attempts
    .map((attempt, index) => ({ speaker: at(attempt, 'provider') as Speaker, atMs: starts[index] ?? 0 }))
    .filter(({ speaker }) => SPEAKERS.includes(speaker));
  expect(sightings).toEqual(asked);
  // The headers were sent before what a begun answer came to.
  if (response.headers.has('x-dragoman-provider') && !fault.continued && !('broken' in fault.client))
    expect(response.headers.get('x-dragoman-attempts')).toBe(String(attempts.length));

  // An attempt without content costs nothing, and the whole is the sum of the attempts.
  for (const attempt of attempts) {
    const produced = at(attempt, 'first_content_at') !== null;
    expect({ attempt, charged: at(attempt, 'cost') !== null }).toEqual({ attempt, charged: produced });
    if (at(attempt, 'outcome') === 'completed') expect(produced).toBe(true);
  }
  const costs = attempts.map((attempt) => Number(at(attempt, 'cost', 'usd') ?? 0));
  const sum = costs.reduce((total, usd) => total + usd, 0);
  expect(Number(at(record, 'cost', 'usd') ?? 0)).toBeCloseTo(sum, 12);
}

describe.each(WAYS)('$client client, $upstream upstream, $lane lane', (way) => {
  for (const { title, faults } of FAULTS) {
    const mine = faults.filter(({ protocols }) => !protocols || protocols.includes(way.upstream));
    const late = title.startsWith('After');
    for (const stream of [false, true]) {
      const other = stream ? 'whole' : 'streamed';
      const all = mine.filter(({ mode }) => mode !== other).map((fault) => ({ name: fault.name, fault }));
      const rows = shareOf(all, WAYS.indexOf(way));
      if (rows.length === 0) continue;
      describe(`${title}, ${stream ? 'streamed' : 'whole'}`, () => {
        test.each(rows)('$name', async ({ fault }) => {
          const stage = stageOf(way.upstream, stream);
          const played = await play(way, fault, stage, fault.continued ? 'continue' : 'error');
          expectClient(way, fault, stage, played);
          expectRecords(fault, played);
          expect(at(played.record, 'attempts', 0, 'first_content_at') !== null).toBe(
            late || fault.attempts[0] === 'first completed',
          );
        });
        const alsoHeld = rows.filter(({ fault }) => stream && !fault.continued);
        if (alsoHeld.length === 0) return;
        test.each(alsoHeld)('ends correctly with a buffered stream: $name', async ({ fault }) => {
          const held: Fault = { ...fault, ...fault.buffered };
          const stage = stageOf(way.upstream, stream);
          const played = await play(way, held, stage, 'buffer');
          expectClient(way, held, stage, played);
          expectRecords(held, played);
        });
      });
    }
  }
});
