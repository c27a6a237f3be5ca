// `POST /route/explain`: who may ask, what is refused, and in whose words.
import { afterAll, expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const CHAT = { model: 'sim/chat', messages: [{ role: 'user', content: 'Hello!' }] };

async function refusal(response: Promise<Response>): Promise<{ status: number; error: unknown }> {
  const answer = await response;
  expect(answer.headers.get('x-request-id')).toMatch(/^\w{32}$/);
  return { status: answer.status, error: ((await answer.json()) as { error: unknown }).error };
}

test('a wrong key is refused', async () => {
  const { status } = await refusal(
    gateway.post('/route/explain', CHAT, { authorization: 'Bearer sk-test-other' }),
  );
  expect(status).toBe(401);
});

test('a malformed request is refused as it would be when it is sent', async () => {
  const wrong = { ...CHAT, temperature: 'hot', provider: { routing: { type: 'random' } } };
  const explained = await refusal(gateway.post('/route/explain', wrong));
  expect(explained).toMatchObject({ status: 400, error: { param: 'temperature' } });
  expect(explained).toEqual(await refusal(gateway.post('/chat/completions', wrong)));
});

test('a protocol that clients cannot use is named', async () => {
  expect(await refusal(gateway.post('/route/explain?protocol=soap', CHAT))).toMatchObject({
    status: 400,
    error: { param: 'protocol', message: expect.stringContaining('must be one of openai-chat') },
  });
});

test('the protocol is detected by the members that only its requests have', async () => {
  const text = { model: 'sim/chat', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 'many' };
  /** The words of an error tell the protocol. */
  const spokenBy = async (body: object, headers: Record<string, string> = {}): Promise<string> => {
    const error = (await (await gateway.post('/route/explain', body, headers)).json()) as object;
    if ('type' in error) return 'anthropic-messages';
    const inner = (error as { error: object }).error;
    return 'status' in inner
      ? 'gemini'
      : JSON.stringify(inner).includes('input')
        ? 'openai-responses'
        : 'openai-chat';
  };
  expect(await spokenBy(text)).toBe('openai-chat');
  expect(await spokenBy({ ...text, system: 'Be brief.' })).toBe('anthropic-messages');
  expect(await spokenBy(text, { 'anthropic-version': '2023-06-01' })).toBe('anthropic-messages');
  expect(await spokenBy({ model: 'sim/chat', contents: 'Hi', generationConfig: 1 })).toBe('gemini');
  expect(await spokenBy({ model: 'sim/chat', input: 1 })).toBe('openai-responses');
});

test('it exists below both base paths, for POST only', async () => {
  const response = await fetch(`${gateway.origin}/api/v1/route/explain`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  expect(await response.text()).toContain('POST only');
});
