// A request that is sent again: the client's own bytes, as a new generation of the same key, and what is different.
import { afterEach, describe, expect, test } from 'bun:test';
import { runProgram } from '../../../support/program.ts';
import {
  type Asked,
  ADMIN_KEY,
  type ManagedGateway,
  startManaged,
} from '../../../support/management/scene.ts';

interface Run {
  readonly id: string;
  readonly model: string;
  readonly status: number;
  readonly output_tokens: number;
  readonly usd: number;
  readonly answer: string;
}
interface Replay {
  readonly id: string;
  readonly replay_of: string;
  readonly before: Run;
  readonly after: Run;
  readonly same_answer: boolean;
}

const question = [{ role: 'user', content: 'What is 6 x 7?' }];
const gateways: ManagedGateway[] = [];
afterEach(() => Promise.all(gateways.splice(0).map((gateway) => gateway.close())));

async function start(config: object = {}): Promise<ManagedGateway> {
  const gateway = await startManaged({ logging: { level: 'silent', content: 'all' }, ...config });
  gateways.push(gateway);
  return gateway;
}

async function ask(gateway: ManagedGateway, path: string, body: object): Promise<string> {
  const response = await gateway.post(path, body);
  await response.text();
  return response.headers.get('x-request-id') ?? '';
}

const again = (gateway: ManagedGateway, id: string, body: object = {}): Promise<Asked> =>
  gateway.manage('POST', `/generations/${id}/replay`, body);

async function textOf(gateway: ManagedGateway, id: string): Promise<string> {
  const { body } = await gateway.manage('GET', `/generations/${id}/payloads`);
  return (
    (body['data'] as { stage: string; text: string }[]).find(({ stage }) => stage === 'client_request')
      ?.text ?? ''
  );
}

describe('a request that is sent again', () => {
  test.each([
    ['/chat/completions', { model: 'sim/chat', messages: question }],
    ['/chat/completions', { model: 'sim/messages', messages: question, stream: true }],
    ['/responses', { model: 'sim/gemini', input: 'What is 6 x 7?', stream: true }],
    ['/messages', { model: 'sim/chat', max_tokens: 500, messages: question }],
  ])('has the same bytes and the same answer: %s %p', async (path, body) => {
    const gateway = await start();
    const id = await ask(gateway, path, body);
    const { status, body: answer } = await again(gateway, id);
    const { before, after, ...replay } = answer as unknown as Replay;
    expect([status, answer['error']]).toEqual([200, undefined]);
    expect(replay).toMatchObject({ id: after.id, replay_of: id, same_answer: true });
    expect(after).toMatchObject({
      status: 200,
      model: before.model,
      answer: before.answer,
      output_tokens: before.output_tokens,
    });
    expect(after.answer).toContain('42');
    expect(after.id).not.toBe(id);
    expect(await textOf(gateway, after.id)).toBe(JSON.stringify(body));
    const record = await gateway.manage('GET', `/generations/${after.id}`);
    expect(record.body).toMatchObject({ replay_of: id, status: 200 });
    const first = await gateway.manage('GET', `/generations/${id}`);
    expect(record.body['key_id']).toBe(first.body['key_id']);
    expect(first.body).not.toHaveProperty('replay_of');
  });

  test('can be sent to another model, also by its address, and to one provider', async () => {
    const gateway = await start({
      models: [
        {
          id: 'house/echo',
          endpoints: [
            { provider: 'sim', name: 'one', model: 'echo' },
            { provider: 'sim', name: 'two', model: 'echo' },
          ],
        },
      ],
    });
    const id = await ask(gateway, '/chat/completions', { model: 'sim/echo', messages: question });
    const other = (await again(gateway, id, { model: 'sim/chat' })).body as unknown as Replay;
    expect(other).toMatchObject({
      before: { model: 'sim/echo' },
      after: { model: 'sim/chat' },
      same_answer: false,
    });
    const gemini = await fetch(`${gateway.origin}/v1beta/models/sim/echo:generateContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': gateway.key },
      body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }),
    });
    await gemini.text();
    const moved = await again(gateway, gemini.headers.get('x-request-id') ?? '', { model: 'sim/gemini' });
    expect(moved.body).toMatchObject({ after: { model: 'sim/gemini', status: 200 } });
    const housed = await ask(gateway, '/chat/completions', { model: 'house/echo', messages: question });
    const pinned = await again(gateway, housed, { provider: 'sim/two' });
    expect(pinned.body).toMatchObject({ before: { endpoint: 'sim/one' }, after: { endpoint: 'sim/two' } });
  });

  test('counts for the key that it belongs to', async () => {
    const gateway = await start({
      keys: [{ name: 'test', key: 'sk-test', limits: [{ requests: 2, per: 'day' }] }],
    });
    const id = await ask(gateway, '/chat/completions', { model: 'sim/echo', messages: question });
    expect((await again(gateway, id)).body).toMatchObject({ after: { status: 200 } });
    expect((await again(gateway, id)).body).toMatchObject({ after: { status: 429, answer: null } });
  });

  test('is refused if it is not stored completely, or would run its tools a second time', async () => {
    const gateway = await start({ logging: { level: 'silent', content: 'all', content_kb: 1 } });
    const long = [{ role: 'user', content: 'x'.repeat(2000) }];
    const cut = await ask(gateway, '/chat/completions', { model: 'sim/echo', messages: long });
    const reasons = async (id: string, body: object = {}): Promise<unknown[]> => {
      const { status, body: answer } = await again(gateway, id, body);
      const { code, message } = (answer['error'] ?? {}) as { code?: string; message?: string };
      return [status, code, message];
    };
    expect(await reasons(cut)).toEqual([409, 'not_replayable', expect.stringContaining('beginning')]);
    const search = await ask(gateway, '/responses', {
      model: 'sim/responses',
      input: 'Hi',
      tools: [{ type: 'web_search' }],
    });
    expect(await reasons(search)).toEqual([409, 'not_replayable', expect.stringContaining('`tools: true`')]);
    expect((await again(gateway, search, { tools: true })).status).toBe(200);
    const conversation = (await (await gateway.post('/conversations', {})).json()) as { id: string };
    const turn = await ask(gateway, '/responses', {
      model: 'sim/responses',
      input: 'Hi',
      conversation: conversation.id,
    });
    expect(await reasons(turn)).toEqual([409, 'not_replayable', expect.stringContaining('conversation')]);
    const thread = await ask(gateway, '/messages', {
      model: 'sim/messages',
      max_tokens: 100,
      messages: question,
      thread: { type: 'create' },
    });
    const continued = await ask(gateway, '/messages', {
      model: 'sim/messages',
      max_tokens: 100,
      messages: question,
      thread: { type: 'continue', previous_message_id: `msg_${thread}` },
    });
    expect(await reasons(continued)).toEqual([
      409,
      'not_replayable',
      expect.stringContaining('`tools: true`'),
    ]);
    expect((await again(gateway, continued, { tools: true })).body).toMatchObject({ after: { status: 200 } });
    expect((await again(gateway, '0'.repeat(32))).status).toBe(404);
    const silent = await start({ logging: { level: 'silent' } });
    const unlogged = await ask(silent, '/chat/completions', { model: 'sim/echo', messages: question });
    expect((await again(silent, unlogged)).status).toBe(409);
  });

  test('is compared in a table by the command', async () => {
    const gateway = await start();
    const id = await ask(gateway, '/chat/completions', { model: 'sim/chat', messages: question });
    const where = ['--url', gateway.origin, '--key', ADMIN_KEY];
    const same = await runProgram(['replay', id, ...where], { folder: gateway.dataDir });
    expect(same.out).toContain('The response is the same.');
    expect(same.out).toMatch(/model +sim\/chat +sim\/chat/);
    const other = await runProgram(['replay', id, '--model', 'sim/echo', ...where], {
      folder: gateway.dataDir,
    });
    expect(other.out).toMatch(/NOW\nWhat is 6 x 7\?/);
    expect(other.code).toBe(0);
  });
});
