// Kept streams that clients resume at another process than the one that keeps them: over Valkey, over the supervisor of workers, and
// with PostgreSQL alone.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, TEST_KEY, type TestGateway } from '../../support/harness.ts';
import { eventually, freshFolder, NO_OVERLOAD, startProgram } from '../../support/program.ts';
import { ValkeyServer } from '../../../src/cluster/valkey/index.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';
import { startValkey, VALKEY_PROGRAM, type ValkeyProcess } from '../../support/servers/valkey.ts';
import { startSlow, type SlowUpstream } from '../../support/upstreams/slow-upstream.ts';
import { StreamReading } from '../../support/upstreams/gateway-with-upstreams.ts';

const SECRET = 'ab'.repeat(32);
const OTHER_KEY = 'sk-test-other';
const RESUMABLE = { 'x-dragoman-resumable': 'true' };
const text = 'Tell me of tea, in a few words, and of côté.';
const messages = [{ role: 'user', content: text }];

/** The same question in each protocol. */
const PROTOCOLS = [
  ['Chat Completions', '/v1/chat/completions', { model: 'sim/chat', stream: true, messages }],
  ['Responses', '/v1/responses', { model: 'sim/chat', stream: true, input: text, store: false }],
  ['Messages', '/v1/messages', { model: 'sim/messages', max_tokens: 200, stream: true, messages }],
  [
    'Gemini',
    '/v1beta/models/sim/gemini:streamGenerateContent?alt=sse',
    { contents: [{ role: 'user', parts: [{ text }] }] },
  ],
] as const;

type Origin = Pick<TestGateway, 'origin'>;

function post(
  at: Origin,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(at.origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

function resume(at: Origin, id: string | null, after: number | null, key = TEST_KEY): Promise<Response> {
  const query = after === null ? '' : `?after=${after}`;
  // Another connection each time: of several workers, any may get it.
  const headers = { authorization: `Bearer ${key}`, connection: 'close' };
  return fetch(`${at.origin}/v1/streams/${id}${query}`, { headers });
}

function eventsOf(stream: string): readonly string[] {
  return stream.split(/(?<=\r?\n\r?\n)/).filter((frame) => frame !== '' && !frame.startsWith(':'));
}

/** Reads a stream until a text has come. */
async function readUntil(response: Response, wanted: string): Promise<StreamReading> {
  const reading = new StreamReading(response);
  await reading.until(wanted);
  return reading;
}

describe.skipIf(VALKEY_PROGRAM === null)('a stream that another replica keeps', () => {
  let server: ValkeyProcess;
  let slow: SlowUpstream;
  let one: TestGateway;
  let two: TestGateway;
  beforeAll(async () => {
    [server, slow] = await Promise.all([startValkey(), startSlow()]);
    const config = {
      redis_url: server.url,
      secret: SECRET,
      keys: [
        { name: 'test', key: TEST_KEY },
        { name: 'other', key: OTHER_KEY },
      ],
      providers: { slow: { api_key: 'sk-test', protocols: { 'openai-chat': slow.base } } },
    };
    [one, two] = await Promise.all([startGateway(config), startGateway(config)]);
  });
  afterAll(async () => {
    await Promise.all([one.close(), two.close()]);
    await server.stop();
    slow.stop();
  });

  test.each(PROTOCOLS)('in %s continues after any event, byte for byte', async (_, path, body) => {
    const response = await post(one, path, body, RESUMABLE);
    const whole = await response.text();
    const id = response.headers.get('x-request-id');
    const events = eventsOf(whole);
    expect(events.length).toBeGreaterThan(2);
    const cuts = [null, ...events.slice(0, -1).keys()];
    // One after the other: a busy machine must find each in a second.
    for (const after of cuts) {
      const rest = await resume(two, id, after);
      expect([rest.status, rest.headers.get('x-request-id')]).toEqual([200, id]);
      expect(eventsOf(await rest.text())).toEqual(events.slice(after === null ? 0 : after + 1));
    }
    expect(await (await resume(two, id, null)).text()).toBe(whole);
    expect((await resume(two, id, events.length - 1)).status).toBe(204);
    expect((await resume(two, id, events.length)).status).toBe(400);
    const foreign = await resume(two, id, 0, OTHER_KEY);
    expect([foreign.status, await foreign.json()]).toMatchObject([410, { error: { code: 'stream_gone' } }]);
  });

  test('is not reported as gone while a replica that may keep it does not respond', async () => {
    const hanging = new ValkeyServer(server.url, [], () => performance.now());
    const subscription = await hanging.listen('told', () => {});
    const unknown = '0'.repeat(32);
    const asked = await resume(two, unknown, 0);
    const said = (await asked.json()) as { error: { message: string } };
    expect([asked.status, asked.headers.get('retry-after')]).toEqual([503, '1']);
    expect(said.error.message).toBe('A process that may store this stream did not respond. Try again.');
    subscription.close();
    hanging.close();
    await eventually('it is gone', async () => (await resume(two, unknown, 0)).status === 410);
  });

  const chat = { model: 'slow/m', stream: true, messages };

  test('continues live after its client was disconnected, and is complete although Valkey was flushed meanwhile', async () => {
    const response = await post(one, '/v1/chat/completions', chat, RESUMABLE);
    const id = response.headers.get('x-request-id');
    const first = await readUntil(response, 'one');
    await first.leave();
    const followed = await resume(two, id, null);
    const second = await readUntil(followed, 'one');
    expect(second.text).toBe(first.text);
    await server.send('FLUSHALL');
    slow.go();
    const whole = await second.rest();
    expect(await (await resume(one, id, null)).text()).toBe(whole);
    expect(whole).toContain(' two');
    expect(slow.aborted).toBe(0);
  });

  test('ends where its last reader at another replica has left', async () => {
    const headers = { ...RESUMABLE, 'x-dragoman-on-disconnect': 'continue:1s' };
    const response = await post(one, '/v1/chat/completions', chat, headers);
    const id = response.headers.get('x-request-id');
    const first = await readUntil(response, 'one');
    const second = await readUntil(await resume(two, id, null), 'one');
    await first.leave();
    const before = slow.aborted;
    await Bun.sleep(1_500);
    expect(slow.aborted).toBe(before);
    await second.leave();
    await eventually('the upstream is left', () => slow.aborted === before + 1);
    const ended = await resume(two, id, null);
    expect([200, 410]).toContain(ended.status);
  });

  test('of an answer in the background is live at the replica that does not make it', async () => {
    const made = await post(one, '/v1/responses', {
      model: 'slow/m',
      input: text,
      background: true,
      stream: true,
    });
    const first = await readUntil(made, 'one');
    const [, id = ''] = /"id":"(resp_[0-9a-f]+)"/.exec(first.text) ?? [];
    const second = await readUntil(await resume(two, id, null), 'one');
    slow.go();
    expect(await second.rest()).toBe(await first.rest());
  });
});

test('of several workers each resumes the streams of all', async () => {
  const { folder, remove } = freshFolder();
  const file = `${folder}/dragoman.yaml`;
  await Bun.write(file, JSON.stringify({ server: NO_OVERLOAD, keys: [{ name: 'test', key: TEST_KEY }] }));
  const args = ['serve', '--port', '0', '--data-dir', `${folder}/data`, '--config', file, '--workers', '2'];
  const program = await startProgram(args, { folder });
  try {
    const response = await post(program, '/v1/chat/completions', PROTOCOLS[0][2], RESUMABLE);
    const whole = await response.text();
    const id = response.headers.get('x-request-id');
    const events = eventsOf(whole);
    const asked = Array.from({ length: 24 }, (_, number) => number % (events.length - 1));
    const rests = await Promise.all(
      asked.map(async (after) => eventsOf(await (await resume(program, id, after)).text())),
    );
    expect(rests).toEqual(asked.map((after) => events.slice(after + 1)));
    // Any worker takes the request that deletes an answer.
    for (let times = 0; times < 5; times += 1) {
      const stored = await post(program, '/v1/responses', { ...PROTOCOLS[1][2], store: true });
      await stored.text();
      const name = stored.headers.get('x-request-id');
      const headers = { authorization: `Bearer ${TEST_KEY}`, connection: 'close' };
      const path = `${program.origin}/v1/responses/resp_${name}`;
      expect((await fetch(path, { method: 'DELETE', headers })).status).toBe(200);
      await eventually('no worker has the stream', async () =>
        (await Promise.all(Array.from({ length: 4 }, () => resume(program, name, 0)))).every(
          ({ status }) => status === 410,
        ),
      );
    }
  } finally {
    await program.stop();
    remove();
  }
});

test.skipIf(POSTGRES_PROGRAMS === null)(
  'with PostgreSQL alone, another replica names the one that has the stream',
  async () => {
    const config = { database_url: await freshPostgres(), secret: SECRET };
    const [one, two] = await Promise.all([startGateway(config), startGateway(config)]);
    try {
      const response = await post(one, '/v1/chat/completions', PROTOCOLS[0][2], RESUMABLE);
      const whole = await response.text();
      const id = response.headers.get('x-request-id');
      expect(await (await resume(one, id, null)).text()).toBe(whole);
      const refused = await resume(two, id, 0);
      expect([refused.status, await refused.json()]).toMatchObject([
        410,
        {
          error: {
            code: 'stream_gone',
            message: expect.stringContaining('or set `redis_url`'),
          },
        },
      ]);
    } finally {
      await Promise.all([one.close(), two.close()]);
    }
  },
);
