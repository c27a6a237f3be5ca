// The beginning of an answer, as Messages clients send it: sent to upstreams that may answer anew, and reported; refused
// by name where the model is known to refuse it.
import { afterAll, expect, test } from 'bun:test';
import { whole } from '../../../support/upstreams/answers.ts';
import { dialect, UPSTREAM_PROTOCOLS, type UpstreamProtocol } from '../../../support/upstreams/dialects.ts';
import { startScene } from '../../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../../support/upstreams/json-path.ts';

const endpoint = (protocol: UpstreamProtocol, quirks: object): object => ({
  provider: 'up',
  model: 'm',
  protocol,
  quirks,
});
const models = UPSTREAM_PROTOCOLS.flatMap((protocol) => [
  { id: `anew/${protocol}`, endpoints: [endpoint(protocol, { prefill: 'none' })] },
  { id: `on/${protocol}`, endpoints: [endpoint(protocol, { prefill: 'plain' })] },
  { id: `unknown/${protocol}`, endpoints: [endpoint(protocol, {})] },
]);
const scene = await startScene(['up'], { config: { models } });
afterAll(() => scene[Symbol.asyncDispose]());

const ask = (model: string, strict = false): Promise<Response> =>
  scene.gateway.post(
    '/messages',
    {
      model,
      max_tokens: 100,
      messages: [
        { role: 'user', content: 'Tell me a story.' },
        { role: 'assistant', content: 'Once upon a time' },
      ],
    },
    strict ? { 'x-dragoman-strict': 'true' } : {},
  );

const reported = (response: Response): boolean =>
  (response.headers.get('x-dragoman-report') ?? '').includes('messages[1]:approximated');

test.each(['openai-chat', 'openai-responses', 'gemini'] as const)(
  'an upstream of %s that may start a new response gets the prefill, with a report',
  async (protocol) => {
    scene.upstream('up').always(whole(dialect(protocol, 'up-0001').whole(', there was a king.')));
    const response = await ask(`anew/${protocol}`);
    expect([response.status, reported(response)]).toEqual([200, true]);
    const text = JSON.stringify(scene.upstream('up').requests.at(-1)?.json);
    expect(text.indexOf('Once upon a time')).toBeGreaterThan(text.indexOf('Tell me a story.'));
    const strict = await ask(`anew/${protocol}`, true);
    expect(strict.status).toBe(400);
    expect(at(await strict.json(), 'error', 'message')).toContain('messages[1]');
  },
);

test('a server of Messages of which nothing is known gets the prefill, with a report', async () => {
  scene.upstream('up').always(whole(dialect('anthropic-messages', 'up-0001').whole(', there was a king.')));
  const response = await ask('unknown/anthropic-messages');
  expect([response.status, reported(response)]).toEqual([200, true]);
  const messages = at(scene.upstream('up').requests.at(-1)?.json, 'messages');
  expect(at(messages, 1, 'content', 0, 'text')).toBe('Once upon a time');
});

test.each(UPSTREAM_PROTOCOLS)(
  'an upstream of %s that continues a prefill gets it without a report',
  async (protocol) => {
    scene.upstream('up').always(whole(dialect(protocol, 'up-0001').whole(', there was a king.')));
    const response = await ask(`on/${protocol}`);
    expect([response.status, reported(response)]).toEqual([200, false]);
  },
);

test('a Claude model that does not support prefill is not called, and the error names the message', async () => {
  scene.upstream('up').script();
  const response = await ask('anew/anthropic-messages');
  expect(response.status).toBe(400);
  expect(at(await response.json(), 'error', 'message')).toStartWith('messages[1]: ');
  expect(scene.upstream('up').requests).toEqual([]);
});
