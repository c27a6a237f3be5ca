// Idempotency keys over two gateways and a real server between them: one upstream call for all requests with the same key,
// wherever they come, and the same bytes for all who wait.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGateway, TEST_KEY, type TestGateway } from '../../support/harness.ts';
import { eventually, freshFolder, startProgram } from '../../support/program.ts';
import { startValkey, VALKEY_PROGRAM, type ValkeyProcess } from '../../support/servers/valkey.ts';
import {
  CHAT_ENDING,
  CHAT_OPENING,
  chatBody,
  chatChunk,
  frame,
  opened,
  whole,
} from '../../support/upstreams/answers.ts';
import {
  frames,
  providerAt,
  StreamReading,
  streamedText,
} from '../../support/upstreams/gateway-with-upstreams.ts';
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/scripted-upstream.ts';

const SECRET = 'ab'.repeat(32);

interface Asking {
  readonly stream?: boolean;
  readonly content?: string;
}

describe.skipIf(VALKEY_PROGRAM === null)('gateways that share answers', () => {
  let server: ValkeyProcess;
  let up: ScriptedUpstream;
  let one: TestGateway;
  let two: TestGateway;
  let last = 0;

  const config = (): Record<string, unknown> => ({
    redis_url: server.url,
    secret: SECRET,
    keys: [{ name: 'test', key: TEST_KEY }],
    routing: { breaker: { failures: 1000 } },
    idempotency: { max_mb: 0.2 },
    providers: { up: providerAt(up.origin) },
    models: [
      { id: 'up/chat', endpoints: [{ provider: 'up', model: 'm', protocol: 'openai-chat' }] },
      { id: 'up/messages', endpoints: [{ provider: 'up', model: 'm', protocol: 'anthropic-messages' }] },
    ],
  });
  beforeAll(async () => {
    server = await startValkey();
    up = await startUpstream();
    [one, two] = await Promise.all([startGateway(config()), startGateway(config())]);
  });
  afterAll(async () => {
    await Promise.all([one.close(), two.close()]);
    await Promise.all([server.stop(), up.stop()]);
  });

  /** A name that was not used before, on a server that knows nothing; what was asked of the upstream does not count. */
  async function fresh(): Promise<string> {
    await server.send('FLUSHALL');
    up.script();
    up.requests.length = 0;
    last += 1;
    return `order-${last}`;
  }
  const ask = (gateway: Pick<TestGateway, 'post'>, key: string, asking: Asking = {}): Promise<Response> => {
    const { stream = false, content = 'Hello' } = asking;
    const body = { model: 'up/chat', stream, messages: [{ role: 'user', content }] };
    return gateway.post('/chat/completions', body, { 'idempotency-key': key });
  };
  const replayed = (response: Response): string | null => response.headers.get('idempotent-replayed');
  const codeOf = async (response: Response): Promise<string | undefined> =>
    ((await response.json()) as { error?: { code?: string } }).error?.code;

  test('a response that one produces is available at the other, during and after its production', async () => {
    const key = await fresh();
    let answer: () => void = () => {};
    up.script((exchange) => (answer = () => whole(chatBody('Grüße 👋'))(exchange)));
    const first = ask(one, key);
    await up.arrived(1);
    const second = ask(two, key);
    // It is asked for there before it is made.
    await eventually(
      'the server has it',
      async () => String(await server.send('HEXISTS', await entryOf(), 'heard')) === '1',
    );
    answer();
    const [made, had] = [await first, await second];
    const text = await made.text();
    expect(await had.text()).toBe(text);
    expect(text).toContain('Grüße 👋');
    expect([replayed(made), replayed(had)]).toEqual([null, 'true']);
    expect(had.headers.get('x-request-id')).toBe(made.headers.get('x-request-id'));
    const again = await ask(two, key);
    expect(await again.text()).toBe(text);
    const other = await ask(two, key, { content: 'Something else' });
    expect([other.status, await codeOf(other)]).toEqual([409, 'idempotency_conflict']);
    expect(up.requests).toHaveLength(1);
  });

  test('a complete response is available at every gateway, but not for another request with its key', async () => {
    const key = await fresh();
    up.script(whole(chatBody('done')));
    const text = await (await ask(one, key)).text();
    await eventually(
      'the server has it',
      async () => String(await server.send('HGET', await entryOf(), 'state')) === 'complete',
    );
    const other = await ask(two, key, { content: 'Something else' });
    expect([other.status, await codeOf(other)]).toEqual([409, 'idempotency_conflict']);
    const same = await ask(two, key);
    expect([await same.text(), replayed(same)]).toEqual([text, 'true']);
    expect(up.requests).toHaveLength(1);
  });

  test('a stream is available as it arrives, also after its first client has disconnected', async () => {
    const key = await fresh();
    up.script(opened(CHAT_OPENING + chatChunk({ content: 'Grü' })));
    const first = new StreamReading(await ask(one, key, { stream: true }));
    await first.until('Grü');
    const response = await ask(two, key, { stream: true });
    const second = new StreamReading(response);
    await second.until('Grü');
    expect(replayed(response)).toBe('true');
    const exchange = await up.arrived(1);
    exchange.chunk(chatChunk({ content: 'ße ' }));
    await second.until('ße ');
    await first.leave();
    exchange.chunk(chatChunk({ content: '👋' }) + CHAT_ENDING);
    exchange.endStream();
    const text = await second.rest();
    expect(streamedText(text)).toBe('Grüße 👋');
    expect(frames(text).at(-1)).toBe('[DONE]');
    expect(up.requests).toHaveLength(1);
  });

  test('the server never stores content unencrypted', async () => {
    const key = await fresh();
    const words = 'nobody else reads this '.repeat(20);
    up.script(whole(chatBody(words)));
    await (await ask(one, key)).text();
    await eventually(
      'the server has it',
      async () => String(await server.send('HGET', await entryOf(), 'state')) === 'complete',
    );
    const kept: unknown[] = [];
    for (const name of (await server.send('KEYS', '*')) as string[]) {
      kept.push(name);
      const type = String(await server.send('TYPE', name));
      if (type === 'list') kept.push(await server.send('LRANGE', name, '0', '-1'));
      if (type === 'hash') kept.push(await server.send('HGETALL', name));
    }
    const all = JSON.stringify(kept);
    expect(kept.length).toBeGreaterThan(2);
    for (const secret of [words, key, TEST_KEY, 'chat.completion'])
      for (const form of [secret, Buffer.from(secret).toString('base64').slice(4, 16)])
        expect(all).not.toContain(form);
  });

  test('a failure in the stream reaches readers of both, and is forgotten', async () => {
    const key = await fresh();
    up.script(opened(CHAT_OPENING + chatChunk({ content: 'Hel' })), whole(chatBody('again')));
    const first = new StreamReading(await ask(one, key, { stream: true }));
    await first.until('Hel');
    const second = new StreamReading(await ask(two, key, { stream: true }));
    await second.until('Hel');
    const exchange = await up.arrived(1);
    exchange.chunk(frame({ error: { message: 'overloaded', type: 'server_error', code: 500 } }));
    exchange.endStream();
    const [text, same] = [await first.rest(), await second.rest()];
    expect(text).toContain('"error"');
    expect(same).toBe(text);
    const retry = await ask(two, key);
    expect([retry.status, replayed(retry)]).toEqual([200, null]);
    await retry.text();
    expect(up.requests).toHaveLength(2);
  });

  test('a server that loses its data during a response neither cuts the response nor repeats a part of it', async () => {
    const key = await fresh();
    up.script(opened(CHAT_OPENING + chatChunk({ content: 'one ' })));
    const first = new StreamReading(await ask(one, key, { stream: true }));
    const second = new StreamReading(await ask(two, key, { stream: true }));
    await second.until('one ');
    await server.send('FLUSHALL');
    const exchange = await up.arrived(1);
    exchange.chunk(chatChunk({ content: 'two ' }));
    await second.until('two ');
    exchange.chunk(chatChunk({ content: 'three' }) + CHAT_ENDING);
    exchange.endStream();
    const [text, same] = [await first.rest(), await second.rest()];
    expect(streamedText(text)).toBe('one two three');
    expect(same).toBe(text);
    expect(up.requests).toHaveLength(1);
  });

  test('a response that is too large to store is not available at other gateways while it is produced', async () => {
    const key = await fresh();
    up.script(
      opened(CHAT_OPENING + chatChunk({ content: 'x'.repeat(300_000) })),
      whole(chatBody('made anew')),
    );
    const first = new StreamReading(await ask(one, key, { stream: true }));
    await first.until('x'.repeat(300_000));
    await eventually(
      'the server has it',
      async () => String(await server.send('HGET', await entryOf(), 'state')) === 'large',
    );
    const refused = await ask(two, key, { stream: true });
    expect([refused.status, await codeOf(refused)]).toEqual([409, 'idempotency_in_progress']);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('x-should-retry')).toBeNull();
    const exchange = await up.arrived(1);
    exchange.chunk(CHAT_ENDING);
    exchange.endStream();
    expect(frames(await first.rest()).at(-1)).toBe('[DONE]');
  });

  test('readers at a gateway get an error when another one dies, and the next request is processed again', async () => {
    const at = freshFolder();
    const path = join(at.folder, 'dragoman.json');
    // A machine that does much else is no overload.
    const busy = { overload: { lag_ms: 0 } };
    writeFileSync(path, JSON.stringify({ ...config(), server: busy, data_dir: at.folder }));
    const third = await startProgram(['--port', '0', '--config', path], { folder: at.folder });
    const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(`${third.origin}/v1${url}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TEST_KEY}`, ...headers },
        body: JSON.stringify(body),
      });
    const [streamed, silent] = [await fresh(), await fresh()];
    up.script(opened(CHAT_OPENING + chatChunk({ content: 'Hel' })), () => {}, whole(chatBody('anew')));
    const first = new StreamReading(await ask({ post }, streamed, { stream: true }));
    await first.until('Hel');
    const nothingYet = ask({ post }, silent).catch(() => null);
    await up.arrived(2);
    const second = new StreamReading(await ask(two, streamed, { stream: true }));
    await second.until('Hel');
    const waiting = ask(two, silent);
    await eventually('the server has it', async () => {
      const names = (await server.send('KEYS', '{dragoman}:1:a:*')) as string[];
      const received = await Promise.all(names.map((name) => server.send('HEXISTS', name, 'heard')));
      return received.filter((is) => String(is) === '1').length === 2;
    });
    process.kill(third.pid, 'SIGKILL');
    const reported = frames(await second.rest()).at(-1);
    expect(reported).toMatchObject({ error: { code: 'upstream_unavailable' } });
    const refused = await waiting;
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([502, '1']);
    await refused.text();
    const anew = await ask(two, silent);
    expect([anew.status, replayed(anew)]).toEqual([200, null]);
    await anew.text();
    await Promise.all([nothingYet, third.exited, first.rest().catch(() => null)]);
    at.remove();
  });

  test('each gateway answers by itself without the server', async () => {
    const key = await fresh();
    up.script(whole(chatBody('mine')), whole(chatBody('mine')));
    process.kill(server.pid, 'SIGSTOP');
    try {
      const answers = [await ask(one, key), await ask(two, key), await ask(two, key)];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(answers.map(replayed)).toEqual([null, null, 'true']);
      await Promise.all(answers.map((answer) => answer.text()));
      expect(up.requests).toHaveLength(2);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
  });

  /** The only answer that the server knows. */
  async function entryOf(): Promise<string> {
    const names = (await server.send('KEYS', '{dragoman}:1:a:*')) as string[];
    return names[0] ?? 'none';
  }
});
