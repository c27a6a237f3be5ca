// In which protocol an upstream is spoken to: the client's own wherever the provider serves the model in it as well as
// in any other, and another one where the catalog knows why. Seen in the paths that an upstream is asked for.
import { afterAll, expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';
import { UPSTREAM_KEY } from '../../support/upstreams/gateway-with-upstreams.ts';
import { startUpstream } from '../../support/upstreams/scripted-upstream.ts';

const upstream = await startUpstream();
const { origin } = upstream;
const gateway = await startGateway({
  routing: { retries: 0, breaker: { failures: 1000 } },
  providers: {
    openai: { api_key: UPSTREAM_KEY, base_url: `${origin}/openai` },
    xai: { api_key: UPSTREAM_KEY, base_url: `${origin}/xai` },
    own: {
      api_key: UPSTREAM_KEY,
      protocols: {
        'openai-chat': `${origin}/own`,
        'openai-responses': `${origin}/own`,
        'anthropic-messages': `${origin}/own`,
        gemini: `${origin}/own`,
      },
    },
  },
  models: [
    { id: 'house/free', endpoints: [{ provider: 'own', model: 'm' }] },
    { id: 'house/fixed', endpoints: [{ provider: 'own', model: 'm', protocol: 'openai-chat' }] },
  ],
});
afterAll(async () => {
  await gateway.close();
  await upstream.stop();
});

const BODIES: Readonly<Record<string, (model: string) => readonly [path: string, body: object]>> = {
  chat: (model) => ['/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] }],
  responses: (model) => ['/responses', { model, input: 'Hi', store: false }],
  messages: (model) => ['/messages', { model, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }],
};

test.each([
  // Served by both of OpenAI's protocols alike, also where nobody has heard of the model yet.
  ['responses', 'openai/gpt-4o', '/openai/responses'],
  ['responses', 'openai/gpt-4.1-mini', '/openai/responses'],
  ['responses', 'openai/gpt-5-chat-latest', '/openai/responses'],
  ['responses', 'openai/made-up-tomorrow', '/openai/responses'],
  ['chat', 'openai/gpt-4o', '/openai/chat/completions'],
  ['chat', 'openai/made-up-tomorrow', '/openai/chat/completions'],
  // A protocol that the provider does not have.
  ['messages', 'openai/gpt-4o', '/openai/chat/completions'],
  // Models that reason say more in Responses, and the oldest of them are not there.
  ['chat', 'openai/gpt-5', '/openai/responses'],
  ['responses', 'openai/o1-mini', '/openai/chat/completions'],
  ['chat', 'xai/grok-4', '/xai/responses'],
  // A server of the operator's own.
  ['chat', 'own/anything', '/own/chat/completions'],
  ['responses', 'own/anything', '/own/responses'],
  ['messages', 'own/anything', '/own/v1/messages'],
  ['messages', 'house/free', '/own/v1/messages'],
  ['responses', 'house/free', '/own/responses'],
  // The operator's protocol is used where one is set.
  ['responses', 'house/fixed', '/own/chat/completions'],
])('a client of %s that asks for %s: %s', async (client, model, path) => {
  upstream.always((exchange) => exchange.head(500, { 'content-length': '0' }));
  const [operation, body] = BODIES[client]?.(model) ?? ['', {}];
  await (await gateway.post(operation, body)).text();
  expect(upstream.requests.map((request) => request.path)).toEqual([path]);
});
