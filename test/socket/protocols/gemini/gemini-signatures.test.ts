// Signatures of Gemini stay with the calls that they came with: also where a client writes words before a call, gives
// calls back without ids, or was answered in Google's own bytes. And parts without data are nothing.
import { afterAll, describe, expect, test } from 'bun:test';
import { chatBody, whole } from '../../../support/upstreams/answers.ts';
import { startScene, type Scene } from '../../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../../support/upstreams/json-path.ts';

const scene = await startScene(['up']);
const faithful = await startScene(['up'], { faithful: true });
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await faithful[Symbol.asyncDispose]();
});

const SIGNATURE = 'c2lnbmF0dXJl';
const answer = (...parts: object[]): object => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 8 },
  modelVersion: 'm',
  responseId: 'r1',
});
const call = { functionCall: { name: 'f', args: { a: 1 } } };
const signed = { ...call, thoughtSignature: SIGNATURE };
const done = { functionResponse: { name: 'f', response: { output: 'ok' } } };
const TOOLS = [
  {
    functionDeclarations: [
      { name: 'f', parameters: { type: 'OBJECT', properties: { a: { type: 'NUMBER' } } } },
    ],
  },
];

const generate = (on: Scene, contents: object[]): Promise<Response> =>
  on.gateway.post('/models/one/gemini:generateContent', { contents, tools: TOOLS });
const sentParts = (on: Scene): Json[] =>
  list(on.upstream('up').requests.at(-1)?.json as Json, 'contents').flatMap((content) =>
    list(content, 'parts'),
  );

describe('a signature that the client lost', () => {
  test('is restored to calls without ids, in both lanes', async () => {
    for (const on of [faithful, scene]) {
      const question = { role: 'user', parts: [{ text: on === faithful ? 'Ask' : 'Ask again' }] };
      on.upstream('up').script(whole(answer(signed)), whole(answer({ text: 'Done' })));
      const first = await generate(on, [question]);
      expect(first.headers.get('x-dragoman-lane')).toBe(on === faithful ? 'relay' : 'translate');
      await first.text();
      await generate(on, [question, { role: 'model', parts: [call] }, { role: 'user', parts: [done] }]);
      const calls = sentParts(on).filter((part) => at(part, 'functionCall') !== undefined);
      expect(calls.map((part) => at(part, 'thoughtSignature'))).toEqual([SIGNATURE]);
    }
  });

  test('is not added to an equal call in another conversation', async () => {
    faithful.upstream('up').script(whole(answer({ text: 'Done' })));
    const other = { role: 'user', parts: [{ text: 'Something else' }] };
    await generate(faithful, [other, { role: 'model', parts: [call] }, { role: 'user', parts: [done] }]);
    expect(JSON.stringify(sentParts(faithful))).not.toContain(SIGNATURE);
  });
});

test('a signature of the client is not replaced by that of a conversation with the same beginning', async () => {
  const question = { role: 'user', parts: [{ text: 'Ask as everybody does' }] };
  const other = Buffer.from('other').toString('base64');
  faithful.upstream('up').script(whole(answer(signed)), whole(answer({ text: 'Done' })));
  await (await generate(faithful, [question])).text();
  const own = { ...call, thoughtSignature: other };
  await generate(faithful, [question, { role: 'model', parts: [own] }, { role: 'user', parts: [done] }]);
  expect(sentParts(faithful).slice(1, -1)).toEqual([own]);
});

test('text that a client adds before a call does not get the signature of the call', async () => {
  const tools = [
    {
      type: 'function',
      function: { name: 'f', parameters: { type: 'object', properties: { a: { type: 'number' } } } },
    },
  ];
  const question = { role: 'user', content: 'Ask' };
  for (const keeps of [true, false]) {
    scene.upstream('up').script(whole(answer(signed)), whole(answer({ text: 'Done' })));
    const first = await scene.gateway.post('/chat/completions', {
      model: 'one/gemini',
      messages: [question],
      tools,
    });
    const message = at(await first.json(), 'choices', 0, 'message') as Record<string, unknown>;
    const { reasoning_details, tool_calls } = message;
    const [made] = tool_calls as { id: string }[];
    await scene.gateway.post('/chat/completions', {
      model: 'one/gemini',
      tools,
      messages: [
        question,
        { role: 'assistant', content: 'I will look.', tool_calls, ...(keeps ? { reasoning_details } : {}) },
        { role: 'tool', tool_call_id: made?.id, content: 'ok' },
      ],
    });
    const parts = sentParts(scene);
    const text = parts.find((part) => at(part, 'text') === 'I will look.');
    expect(text).toEqual({ text: 'I will look.' });
    expect(parts.find((part) => at(part, 'functionCall') !== undefined)).toMatchObject({
      thoughtSignature: SIGNATURE,
    });
  }
});

test('a part without data is nothing, in every lane', async () => {
  const contents = [
    { role: 'user', parts: [{ text: 'Ask' }, {}] },
    { role: 'model', parts: [{ text: 'Well.' }, {}] },
    { role: 'user', parts: [{ text: 'Go on' }] },
  ];
  for (const [on, model] of [
    [scene, 'chat'],
    [scene, 'gemini'],
    [faithful, 'gemini'],
  ] as const) {
    on.upstream('up').script(whole(model === 'chat' ? chatBody('Hi') : answer({ text: 'Hi' })));
    const response = await on.gateway.post(`/models/one/${model}:generateContent`, { contents });
    expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, '']);
    if (model === 'chat') expect(JSON.stringify(on.upstream('up').requests.at(-1)?.json)).toContain('Well.');
    else expect(sentParts(on)).toEqual([{ text: 'Ask' }, { text: 'Well.' }, { text: 'Go on' }]);
  }
});
