// Which headers of a client reach an upstream: those of an explicit list. Everything else could speak of the operator's
// account, or take the place of what the gateway says.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startScene, UPSTREAM_KEY, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';

const scenes: Scene[] = [];
beforeAll(async () => {
  for (const faithful of [true, false]) scenes.push(await startScene(['up'], { faithful }));
});
afterAll(() => Promise.all(scenes.map((scene) => scene[Symbol.asyncDispose]())));

/** Headers that a client may send; only the first of them is meant for the upstream, and only in its own protocol. */
const SENT = {
  'anthropic-beta': 'context-1m-2025-08-07',
  'anthropic-version': '1999-01-01',
  'anthropic-organization-id': 'org_of_somebody',
  'openai-organization': 'org_of_somebody',
  'openai-project': 'proj_of_somebody',
  'openai-beta': 'everything',
  'x-goog-user-project': 'project-of-somebody',
  'x-goog-api-client': 'mine',
  'x-amz-target': 'elsewhere',
  cookie: 'session=1',
  'x-forwarded-for': '10.0.0.1',
};
const BODIES = {
  chat: { path: '/v1/chat/completions', messages: [{ role: 'user', content: 'Hi' }] },
  responses: { path: '/v1/responses', input: 'Hi' },
  messages: { path: '/v1/messages', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] },
  gemini: { path: '/v1beta/models/one/gemini:generateContent', contents: [{ parts: [{ text: 'Hi' }] }] },
} as const;

test.each(Object.keys(BODIES) as (keyof typeof BODIES)[])(
  'foreign headers and credentials of a client of %s are not passed on',
  async (client) => {
    const { path, ...body } = BODIES[client];
    for (const scene of scenes)
      for (const model of ['one/chat', 'one/messages', 'one/responses', 'one/gemini']) {
        const upstream = scene.upstream('up');
        upstream.always((exchange) => exchange.cut());
        await fetch(scene.gateway.origin + path.replace('one/gemini', model), {
          method: 'POST',
          headers: { authorization: `Bearer ${scene.gateway.key}`, ...SENT },
          body: JSON.stringify(client === 'gemini' ? body : { model, ...body }),
        });
        const { headers = {} } = upstream.requests[0] ?? {};
        const isNative = client === 'messages' && model === 'one/messages';
        expect(Object.values(headers).join(' ')).toContain(UPSTREAM_KEY);
        expect(headers['anthropic-version']).toBe(model === 'one/messages' ? '2023-06-01' : undefined);
        expect(headers['anthropic-beta']).toBe(isNative ? SENT['anthropic-beta'] : undefined);
        for (const name of Object.keys(SENT).slice(2))
          expect([name, headers[name]]).toEqual([name, undefined]);
      }
  },
);
