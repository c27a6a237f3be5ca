// Answers in the background that are tried again: the record of the try that answered is the answer's, and a full upstream is waited
// for however often it refuses.
import { Database } from 'bun:sqlite';
import { afterEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import { eventually } from '../../support/program.ts';
import { quickClock } from '../../support/quick-clock.ts';
import { startStateful, type StatefulGateway } from '../../support/storage/state-seed.ts';

/** A try asks its upstream twice: more tries than processes may die with one answer. */
const REFUSALS = 24;

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

/** A gateway in front of an upstream that has no room at first. */
async function start(refusals: number): Promise<StatefulGateway & { readonly asked: () => number }> {
  let asked = 0;
  const server = Bun.serve({
    port: 0,
    fetch() {
      asked += 1;
      if (asked <= refusals)
        return Response.json(
          { error: { message: 'slow down' } },
          { status: 429, headers: { 'retry-after': '0' } },
        );
      const chunk = (delta: object, finish: string | null) => {
        const choices = [{ index: 0, delta, finish_reason: finish }];
        return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`;
      };
      const body = `${chunk({ content: 'made' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`;
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  const config = {
    providers: { up: { api_key: 'x', protocols: { 'openai-chat': `http://127.0.0.1:${server.port}/v1` } } },
    models: [{ id: 'up/m', endpoints: [{ provider: 'up', model: 'm', price: { input: 1, output: 1 } }] }],
  };
  const stateful = await startStateful(config, quickClock());
  open.push({ close: () => server.stop(true) }, stateful);
  return { ...stateful, asked: () => asked };
}

async function made({ client }: StatefulGateway): Promise<string> {
  const { id } = await client.responses.create({ model: 'up/m', input: 'Hello', background: true });
  let last = '';
  await eventually(
    'it has ended',
    async () => {
      const answer = await client.responses.retrieve(id);
      last = JSON.stringify(answer.error);
      return !['queued', 'in_progress'].includes(answer.status ?? '');
    },
    60_000,
  );
  expect({ error: last, text: (await client.responses.retrieve(id)).output_text }).toEqual({
    error: 'null',
    text: 'made',
  });
  return id;
}

test('the record of a response is that of the try that answered, with the other tries', async () => {
  const gateway = await start(2);
  const id = await made(gateway);
  const { json } = await gateway.call('GET', `/generation?id=${id}`);
  const generation = id.slice('resp_'.length);
  expect(json).toMatchObject({ id: generation, outcome: 'ok', try: 2, tries: 2, error: null });
  expect(json).not.toHaveProperty('replay_of');
  const first = await gateway.call('GET', `/generation?id=${id}&try=1`);
  expect(first.json).toMatchObject({
    id: generation,
    record_id: generation,
    try: 1,
    tries: 2,
    outcome: 'failed',
  });
  const own = await gateway.call('GET', `/generation?id=${String(json['record_id'])}`);
  expect(own.json).toMatchObject({ id: json['record_id'], replay_of: generation });
  const none = await gateway.call('GET', `/generation?id=${id}&try=3`);
  expect(none).toMatchObject({ status: 404, json: { error: { param: 'try' } } });
  expect(await gateway.call('GET', `/generation?id=${id}&try=0`)).toMatchObject({
    status: 400,
    json: { error: { param: 'try' } },
  });
});

test('an upstream without capacity is retried more often than the limit for dead processes', async () => {
  const gateway = await start(REFUSALS);
  const id = await made(gateway);
  const { json } = await gateway.call('GET', `/generation?id=${id}`);
  expect(json).toMatchObject({ outcome: 'ok', error: null });
  expect(json['tries']).toBeGreaterThan(10);
});

test('a try waits for an unreachable database, and the response is produced', async () => {
  const gateway = await start(2);
  const database = new Database(join(gateway.gateway.dataDir, 'dragoman.db'));
  const { id } = await gateway.client.responses.create({ model: 'up/m', input: 'Hello', background: true });
  await eventually('the first try was refused', () => gateway.asked() === 2);
  database.run('alter table job_steps rename to steps_away');
  await eventually('the database failed', () =>
    gateway.gateway.logLines.some((line) => line.includes('retried')),
  );
  database.run('alter table steps_away rename to job_steps');
  database.close();
  await eventually(
    'the answer is made',
    async () => (await gateway.client.responses.retrieve(id)).status === 'completed',
  );
});

test('the end of a stream is visible after the stream is stored: it is produced again if the process dies before', async () => {
  const { client, gateway } = await start(0);
  const database = new Database(join(gateway.dataDir, 'dragoman.db'));
  database.run("create trigger full before insert on job_streams begin select raise(abort, 'no room'); end");
  const seen: string[] = [];
  const read = async (): Promise<void> => {
    const asked = { model: 'up/m', input: 'Hello', background: true, stream: true } as const;
    for await (const { type } of await client.responses.create(asked)) seen.push(type);
  };
  const reading = read();
  const retries = (): number => gateway.logLines.filter((line) => line.includes('retried')).length;
  await eventually(
    'it is tried again, and everything before the end is read',
    () => retries() > 1 && seen.includes('response.output_item.done'),
  );
  expect(seen.at(-1)).toBe('response.output_item.done');
  database.run('drop trigger full');
  database.close();
  await reading;
  expect(seen.at(-1)).toBe('response.completed');
});
