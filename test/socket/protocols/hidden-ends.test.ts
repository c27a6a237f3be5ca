// The last thing of an answer is the answer: what signs it behind its last word is kept by the gateway, and goes back to
// the model that signed, whatever the client's protocol.
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { chatError, frame, stream, whole } from '../../support/upstreams/answers.ts';
import { startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { list, type Json } from '../../support/upstreams/json-path.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());

const SIGNATURE = 'c2lnbmF0dXJl';
const USAGE = { promptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 8 };
const piece = (parts: object[], finishReason?: string): object => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) }],
  ...(finishReason && { usageMetadata: USAGE }),
  modelVersion: 'm',
  responseId: 'r1',
});
const END = { text: '', thoughtSignature: SIGNATURE };
/** A streamed answer that ends as Google's do, or a whole one with the same parts. */
const answer = (streams: boolean, ...parts: object[]) =>
  streams
    ? stream([...parts.map((part) => frame(piece([part]))), frame(piece([END], 'STOP'))])
    : whole(piece([...parts, END], 'STOP'));
const sentParts = (): Json[] =>
  list(scene.upstream('up').requests.at(-1)?.json as Json, 'contents').flatMap((content) =>
    list(content, 'parts'),
  );

describe.each([true, false])('a response with a signature after its last text (streamed: %p)', (streams) => {
  test('ends with its text for clients of Messages', async () => {
    const client = new Anthropic({ apiKey: scene.gateway.key, baseURL: scene.gateway.origin });
    const thought = { text: 'Hm.', thought: true };
    const words = `Messages ${streams}`;
    const up = scene.upstream('up');
    up.script(answer(streams, thought, { text: words }), answer(streams, { text: 'Yes.' }));
    const question = { role: 'user', content: 'Say it' } as const;
    const asked = { model: 'one/gemini', max_tokens: 100, messages: [question] };
    const message = await (streams
      ? client.messages.stream(asked).finalMessage()
      : client.messages.create(asked));
    expect(message.content.map(({ type }) => type)).toEqual(['thinking', 'text']);
    const { content } = message;
    await client.messages.create({
      ...asked,
      messages: [question, { role: 'assistant', content }, { role: 'user', content: 'Sure?' }],
    });
    expect(sentParts()).toEqual([{ text: 'Say it' }, thought, { text: words }, END, { text: 'Sure?' }]);
  });

  test('ends with its message for clients of Responses, also if they request encrypted reasoning', async () => {
    const client = new OpenAI({ apiKey: scene.gateway.key, baseURL: scene.gateway.baseURL });
    const up = scene.upstream('up');
    const words = `Responses ${streams}`;
    up.script(
      answer(streams, { text: words }),
      answer(streams, { text: 'Yes.' }),
      answer(streams, { text: 'Yes.' }),
    );
    const asked = { model: 'one/gemini', input: 'Say it', include: ['reasoning.encrypted_content' as const] };
    const response = await (streams
      ? client.responses.stream(asked).finalResponse()
      : client.responses.create(asked));
    expect(response.output.map(({ type }) => type)).toEqual(['message']);
    const expected = [{ text: 'Say it' }, { text: words }, END, { text: 'Sure?' }];
    // By its id, and as a conversation that the client keeps itself.
    const previous_response_id = response.id;
    await client.responses.create({ model: 'one/gemini', input: 'Sure?', previous_response_id });
    expect(sentParts()).toEqual(expected);
    const input = [
      { role: 'user' as const, content: 'Say it' },
      ...(response.output as OpenAI.Responses.ResponseInputItem[]),
      { role: 'user' as const, content: 'Sure?' },
    ];
    await client.responses.create({ model: 'one/gemini', input, store: false });
    expect(sentParts()).toEqual(expected);
    const kept = await client.responses.retrieve(response.id, { include: ['reasoning.encrypted_content'] });
    expect(kept.output.map(({ type }) => type)).toEqual(['message']);
  });

  test('keeps its signature before the following content', async () => {
    const call = { functionCall: { name: 'f', args: {} } };
    const parts = [{ text: 'Well.' }, END, call];
    const up = scene.upstream('up');
    up.script(answer(streams, ...parts));
    const response = await scene.gateway.post('/messages', {
      model: 'one/gemini',
      max_tokens: 100,
      stream: streams,
      messages: [{ role: 'user', content: 'Do it' }],
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
    });
    const text = await response.text();
    const types = [...text.matchAll(/"type":"(text|tool_use|redacted_thinking)"/g)].map(([, type]) => type);
    expect(types).toEqual(['text', 'redacted_thinking', 'tool_use']);
  });
});

test('other text does not get the signature', async () => {
  const up = scene.upstream('up');
  up.script(answer(true, { text: 'Mine' }), whole(piece([{ text: 'Yes.' }], 'STOP')));
  const messages = [{ role: 'user', content: 'Say it' }];
  const body = { model: 'one/gemini', max_tokens: 100, messages };
  await (await scene.gateway.post('/messages', { ...body, stream: true })).text();
  const later = [...messages, { role: 'assistant', content: 'Else' }, { role: 'user', content: 'Sure?' }];
  await (await scene.gateway.post('/messages', { ...body, messages: later })).text();
  expect(sentParts()).toEqual([{ text: 'Say it' }, { text: 'Else' }, { text: 'Sure?' }]);
});

test('the signature of a model that replaced another one is restored, too', async () => {
  const up = scene.upstream('up');
  const failed = chatError(401);
  up.script(failed, answer(false, { text: 'Replaced' }), failed, whole(piece([{ text: 'Yes.' }], 'STOP')));
  const messages = [{ role: 'user', content: 'Say it' }];
  const body = { model: 'one/chat', models: ['one/gemini'], max_tokens: 100, messages };
  await (await scene.gateway.post('/messages', body)).text();
  const later = [...messages, { role: 'assistant', content: 'Replaced' }, { role: 'user', content: 'Sure?' }];
  await (await scene.gateway.post('/messages', { ...body, messages: later })).text();
  expect(sentParts()).toEqual([{ text: 'Say it' }, { text: 'Replaced' }, END, { text: 'Sure?' }]);
});
