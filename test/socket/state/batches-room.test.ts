// Batches leave room to others: lines wait while the event loop is late, or a provider's limit is nearly used; and they end when
// their time is over.
import { afterEach, expect, test } from 'bun:test';
import { toFile } from 'openai';
import type { Batch } from 'openai/resources/batches';
import { BatchPace } from '../../../src/engine/index.ts';
import type { Clock } from '../../../src/base/runtime/clock.ts';
import { RecentDelay } from '../../../src/base/telemetry/recent-delay.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventually } from '../../support/program.ts';
import { startStateful, type StatefulGateway } from '../../support/storage/state-seed.ts';
import { eventuallyFound } from '../../support/program.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

function upstream(answer: (asked: number) => Promise<void> | void) {
  let asked = 0;
  const server = Bun.serve({
    port: 0,
    async fetch() {
      asked += 1;
      await answer(asked);
      const message = { role: 'assistant', content: 'Hi' };
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      return Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage });
    },
  });
  open.push({ close: () => server.stop(true) });
  return server;
}

async function batchOf({ client }: StatefulGateway, lines: number, window = '24h'): Promise<string> {
  const texts = Array.from({ length: lines }, (_, line) => {
    const body = { model: 'up/m', max_tokens: 1, messages: [{ role: 'user', content: 'Hello' }] };
    return JSON.stringify({ custom_id: `${line}`, method: 'POST', url: '/v1/chat/completions', body });
  });
  const file = await toFile(Buffer.from(texts.join('\n')), 'in.jsonl');
  const { id } = await client.files.create({ file, purpose: 'batch' });
  const asked = { input_file_id: id, endpoint: '/v1/chat/completions', completion_window: window };
  return (await client.batches.create(asked as Parameters<typeof client.batches.create>[0])).id;
}

function until({ client }: StatefulGateway, id: string, is: (batch: Batch) => boolean): Promise<Batch> {
  return eventuallyFound('the batch comes so far', () => client.batches.retrieve(id), is);
}

function config(port: number | undefined, provider: object = {}) {
  return {
    providers: {
      up: { api_key: 'x', protocols: { 'openai-chat': `http://127.0.0.1:${port}/v1` }, ...provider },
    },
    models: [{ id: 'up/m', endpoints: [{ provider: 'up', model: 'm' }] }],
    batches: { max_delay_ms: 0, concurrent: 1 },
  };
}

function waitingOf(batch: Batch): { readonly reason: string; readonly since: number } {
  const { waiting } = batch as Batch & { readonly waiting: ReturnType<typeof waitingOf> };
  return waiting;
}

test('lines leave a fifth of the limit of their provider to others', async () => {
  const { port } = upstream(() => {});
  const stateful = await startStateful(config(port, { limits: [{ requests: 10, per: 'hour' }] }));
  open.push(stateful);
  const id = await batchOf(stateful, 12);
  const batch = await until(stateful, id, ({ request_counts }) => request_counts?.completed === 8);
  expect(batch.status).toBe('in_progress');
  const chat = { model: 'up/m', messages: [{ role: 'user' as const, content: 'Hello' }] };
  expect((await stateful.client.chat.completions.create(chat)).choices[0]?.message.content).toBe('Hi');
  expect((await stateful.client.batches.retrieve(id)).request_counts?.completed).toBe(8);
});

test('lines wait while the event loop is late, and projects take turns', async () => {
  const delay = new RecentDelay();
  const pace = new BatchPace({
    limits: () => ({ concurrent: 1, maxDelayMs: 20 }),
    delayMs: () => delay.p99,
  });
  for (let look = 0; look < 100; look += 1) delay.note(look < 2 ? 30 : 1);
  expect(pace.refusal).toContain('30 ms late');
  delay.note(1);
  expect(pace.refusal).toBeNull();
  const begun: string[] = [];
  const enter = (name: string) => pace.enter(name.slice(0, 1)).then(() => begun.push(name));
  await enter('a1');
  const all = Promise.all(['a2', 'a3', 'b1'].map(enter));
  for (let line = 0; line < 3; line += 1) {
    pace.leave();
    await Bun.sleep(0);
  }
  await all;
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
});

/** A gateway whose intervals end late, as those of a busy machine do: 50 ms, or what is set. */
async function startLate(port: number | undefined) {
  const manual = new ManualClock(Date.now());
  const late = { ms: 50 };
  const clock: Clock = {
    now: manual.now,
    wall: manual.wall,
    after: (ms, run) => manual.after(ms, run),
    every(ms, run) {
      const begin = (): (() => void) =>
        manual.after(ms + late.ms, () => {
          run();
          stop = begin();
        });
      let stop = begin();
      return () => stop();
    },
  };
  const stateful = await startStateful({ ...config(port), batches: { concurrent: 1 } }, clock);
  open.push(stateful);
  return { stateful, manual, late };
}

test('a batch pauses while the event loop is late, and reports why and since when', async () => {
  const other = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const { port } = upstream((times) => {
    asked.resolve();
    return times === 1 ? other.promise : undefined;
  });
  const { stateful, manual, late } = await startLate(port);
  const answer = stateful.client.chat.completions.create({
    model: 'up/m',
    messages: [{ role: 'user', content: 'Hello' }],
  });
  await asked.promise;
  manual.advance(1_000);
  const id = await batchOf(stateful, 1);
  const look = (): Promise<Batch> => {
    manual.advance(1_000);
    return stateful.client.batches.retrieve(id);
  };
  const first = await eventuallyFound('it says why', look, (batch) => 'waiting' in batch);
  const reasons = new Set<string>();
  for (let second = 0; second < 60; second += 1) {
    // The reason says how late it was.
    late.ms += 1;
    const batch = await look();
    const { reason, since } = waitingOf(batch);
    expect({ status: batch.status, since }).toEqual({ status: 'validating', since: waitingOf(first).since });
    reasons.add(reason);
  }
  expect(reasons.size).toBeGreaterThan(2);
  other.resolve();
  await answer;
  await eventually('it completes', async () => (await look()).status === 'completed');
});

test('a batch does not wait for a late event loop while no other request runs', async () => {
  const { port } = upstream(() => {});
  const { stateful, manual } = await startLate(port);
  manual.advance(20_000);
  const id = await batchOf(stateful, 1);
  await eventually('it completes', async () => {
    manual.advance(100);
    const batch = await stateful.client.batches.retrieve(id);
    expect(batch).not.toHaveProperty('waiting');
    return batch.status === 'completed';
  });
});

test('a project with a higher weight has more turns', async () => {
  const pace = new BatchPace({
    limits: () => ({ concurrent: 1, maxDelayMs: 0 }),
    delayMs: () => 0,
    weightOf: (projectId) => (projectId === 'a' ? 3 : 1),
  });
  const begun: string[] = [];
  /** As a batch does: the next line waits once one has begun. */
  const enterAll = async (projectId: string): Promise<void> => {
    for (let line = 0; line < 12; line += 1) {
      await pace.enter(projectId);
      begun.push(projectId);
    }
  };
  await pace.enter('first');
  const all = ['a', 'b'].map(enterAll);
  for (let line = 0; line < 16; line += 1) {
    pace.leave();
    await Bun.sleep(0);
  }
  expect(begun).toHaveLength(16);
  expect(begun.filter((projectId) => projectId === 'a').length).toBe(12);
  for (let line = 0; line < 8; line += 1) {
    pace.leave();
    await Bun.sleep(0);
  }
  await Promise.all(all);
});

test('a line waits for room as often as it has to', async () => {
  const refusals = 12;
  let asked = 0;
  const server = Bun.serve({
    port: 0,
    fetch() {
      asked += 1;
      if (asked <= refusals) return new Response('{}', { status: 429, headers: { 'retry-after': '10' } });
      const message = { role: 'assistant', content: 'Hi' };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      return Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices });
    },
  });
  open.push({ close: () => server.stop(true) });
  const clock = new ManualClock(Date.now());
  const stateful = await startStateful({ ...config(server.port), routing: { retries: 0 } }, clock);
  open.push(stateful);
  const id = await batchOf(stateful, 1);
  const isOver = async (): Promise<boolean> => {
    clock.advance(1_000);
    return (await stateful.client.batches.retrieve(id)).status === 'completed';
  };
  await eventually('it ends', isOver);
  const batch = await stateful.client.batches.retrieve(id);
  expect({ asked, ...batch.request_counts }).toEqual({
    asked: refusals + 1,
    total: 1,
    completed: 1,
    failed: 0,
  });
});

test('an expired batch delivers its finished results', async () => {
  const { port } = upstream((asked) => (asked > 1 ? new Promise(() => {}) : undefined));
  const clock = new ManualClock(Date.now());
  const stateful = await startStateful(config(port), clock);
  open.push(stateful);
  // The clock of the test moves time for all: leases, looks at the queue, and the end of the batch.
  const passing = (is: (batch: Batch) => boolean): Promise<Batch> =>
    until(stateful, id, (batch) => {
      clock.advance(1_000);
      return is(batch);
    });
  const id = await batchOf(stateful, 3, '1h');
  await passing(({ request_counts }) => request_counts?.completed === 1);
  clock.advance(3_600_000);
  const batch = await passing(({ status }) => status === 'expired');
  expect(batch.request_counts).toEqual({ total: 3, completed: 1, failed: 2 });
  const errors = await (await stateful.client.files.content(batch.error_file_id ?? '')).text();
  expect(errors.match(/batch_expired/g)).toHaveLength(2);
});
