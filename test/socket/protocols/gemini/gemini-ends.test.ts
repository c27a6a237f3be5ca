// Ends of answers as a Gemini client receives them through the gateway, and how much a model is asked to think.
import { afterAll, expect, test } from 'bun:test';
import { frame, messagesBody, messagesStream, stream, whole } from '../../../support/upstreams/answers.ts';
import { dialect } from '../../../support/upstreams/dialects.ts';
import { recordOf, startScene } from '../../../support/upstreams/gateway-with-upstreams.ts';
import { at, type Json } from '../../../support/upstreams/json-path.ts';

const models = [
  {
    id: 'one/gemini-3',
    endpoints: [{ provider: 'up', model: 'gemini-3-pro-preview', protocol: 'gemini' }],
  },
];
const scene = await startScene(['up'], { config: { models } });
afterAll(() => scene[Symbol.asyncDispose]());

function ask(model: string, method: string, config: object = {}): Promise<Response> {
  const { gateway } = scene;
  return fetch(`${gateway.origin}/v1beta/models/${model}:${method}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' },
    body: JSON.stringify({
      contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
      generationConfig: config,
    }),
  });
}

test.each([
  ['an explanation', { explanation: 'I will not.' }, 'SAFETY'],
  ['no explanation', null, 'SAFETY'],
])('a refusal of Claude with %s after text ends with the reason of Google', async (_, details, word) => {
  const content = [{ type: 'text', text: 'Let me see.' }];
  const stop_details = details && { type: 'refusal', category: null, ...details };
  const streamed = messagesStream(content, 'refusal').replace(
    '"stop_sequence":null},"usage":{"output_tokens":20}',
    `"stop_sequence":null,"stop_details":${JSON.stringify(stop_details)}},"usage":{"output_tokens":20}`,
  );
  expect(streamed).toContain('stop_details');
  scene.upstream('up').script(whole({ ...messagesBody(content, 'refusal'), stop_details }), stream(streamed));
  const answer = (await (await ask('one/messages', 'generateContent')).json()) as Json;
  expect(at(answer, 'candidates', 0, 'finishReason')).toBe(word);
  const chunks = await (await ask('one/messages', 'streamGenerateContent?alt=sse')).text();
  expect(chunks).toContain(`"finishReason":"${word}"`);
});

test.each(['UNEXPECTED_TOOL_CALL'])('an answer that ended with %s is an answer', async (word) => {
  const body = {
    candidates: [{ content: { role: 'model' }, finishReason: word, finishMessage: 'f(', index: 0 }],
    usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 },
    modelVersion: 'm',
  };
  const up = scene.upstream('up');
  up.script(whole(body), stream(frame(body)), whole(body));
  const answer = await ask('one/gemini', 'generateContent');
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ candidates: [{ finishReason: word, finishMessage: 'f(' }] });
  const chunks = await (await ask('one/gemini', 'streamGenerateContent?alt=sse')).text();
  expect(chunks).toContain(`"finishReason":"${word}"`);
  const messages = [{ role: 'user', content: 'Hello' }];
  const chat = await scene.gateway.post('/chat/completions', { model: 'one/gemini', messages });
  expect(await chat.json()).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
  expect(JSON.stringify(await recordOf(scene.gateway, chat))).toContain(word);
});

test.each(['MALFORMED_FUNCTION_CALL', 'TOO_MANY_TOOL_CALLS'])(
  'a response that ended with %s is an error with the reason',
  async (word) => {
    const body = { candidates: [{ content: { role: 'model' }, finishReason: word, index: 0 }] };
    const up = scene.upstream('up');
    for (const operation of ['generateContent', 'streamGenerateContent?alt=sse']) {
      // It is tried again before anybody is told.
      const broken = operation === 'generateContent' ? whole(body) : stream(frame(body));
      up.script(broken, broken);
      const answer = await ask('one/gemini', operation);
      expect(answer.ok).toBe(false);
      expect(await answer.text()).toContain(word);
    }
  },
);

test('a model that always thinks decides for itself how much, when its client leaves it to it', async () => {
  scene.upstream('up').script(whole(dialect('gemini', 'up-1').whole('Hi.')));
  const answer = await ask('one/gemini-3', 'generateContent', {
    thinkingConfig: { thinkingBudget: -1, includeThoughts: true },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-dragoman-report')).toBeNull();
  const sent = scene.upstream('up').requests.at(-1)?.json;
  expect(at(sent, 'generationConfig', 'thinkingConfig')).toEqual({ includeThoughts: true });
});

test('a reason that nobody knows reaches clients of Gemini in its own word, whole and streamed', async () => {
  const body = {
    candidates: [
      { content: { role: 'model', parts: [{ text: 'So' }] }, finishReason: 'OUT_OF_PATIENCE', index: 0 },
    ],
    usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 },
    modelVersion: 'm',
  };
  scene.upstream('up').script(whole(body), stream(frame(body)));
  const answer = (await (await ask('one/gemini', 'generateContent')).json()) as Json;
  expect(at(answer, 'candidates', 0, 'finishReason')).toBe('OUT_OF_PATIENCE');
  const chunks = await (await ask('one/gemini', 'streamGenerateContent?alt=sse')).text();
  expect(chunks.match(/"finishReason":"\w+"/g)).toEqual(['"finishReason":"OUT_OF_PATIENCE"']);
});
