// A prompt that Google refuses before any model sees it (`promptFeedback.blockReason`, status 200, no candidate), as
// clients of each protocol are told of it, whole and streamed.
import { afterAll, describe, expect, test } from 'bun:test';
import { frame, stream as sse, whole } from '../../../support/upstreams/answers.ts';
import { frames, recordOf, startScene } from '../../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../../support/upstreams/json-path.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());

const WORDS = 'The prompt is blocked due to prohibited contents';
const BLOCKED = {
  promptFeedback: { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: WORDS },
  usageMetadata: { promptTokenCount: 13, totalTokenCount: 13 },
  modelVersion: 'm',
};
const USER = { role: 'user', content: 'Hi' };

async function ask(path: string, body: object, stream: boolean): Promise<Response> {
  scene.upstream('up').script(stream ? sse(frame(BLOCKED)) : whole(BLOCKED));
  const response = await fetch(scene.gateway.origin + path, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ...(stream ? { stream } : {}) }),
  });
  expect(response.status).toBe(200);
  return response;
}

/** The data of every event of a stream. */
const events = async (response: Response): Promise<unknown[]> =>
  (await response.text())
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as unknown);

describe('a blocked prompt', () => {
  const chat = { model: 'one/gemini', messages: [USER] };
  test('is a refusal ended by the filter for Chat Completions, with its tokens', async () => {
    const response = await ask('/v1/chat/completions', chat, false);
    const answer = await response.json();
    expect(answer).toMatchObject({
      choices: [{ finish_reason: 'content_filter', message: { content: null, refusal: WORDS } }],
      usage: { prompt_tokens: 13, completion_tokens: 0 },
    });
    const record = await recordOf(scene.gateway, response);
    expect(at(record, 'native_finish_reason') ?? at(record, 'nativeFinishReason')).toBe('PROHIBITED_CONTENT');
    const all = frames(await (await ask('/v1/chat/completions', chat, true)).text());
    expect(all.at(-1)).toBe('[DONE]');
    expect(at(all.at(-2), 'choices', 0, 'finish_reason')).toBe('content_filter');
    expect(all.map((each) => at(each, 'choices', 0, 'delta', 'refusal') ?? '').join('')).toBe(WORDS);
  });

  test('is an incomplete response for Responses', async () => {
    const body = { model: 'one/gemini', input: 'Hi', store: false };
    expect(await (await ask('/v1/responses', body, false)).json()).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
      output: [{ type: 'message', content: [{ type: 'refusal', refusal: WORDS }] }],
    });
    const last = (await events(await ask('/v1/responses', body, true))).at(-1);
    expect(last).toMatchObject({
      type: 'response.incomplete',
      response: { incomplete_details: { reason: 'content_filter' } },
    });
  });

  test('is a refusal for Messages, with its text only in the field that Anthropic uses', async () => {
    const body = { model: 'one/gemini', max_tokens: 50, messages: [USER] };
    const end = {
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: 'PROHIBITED_CONTENT', explanation: WORDS },
    };
    const answer = await (await ask('/v1/messages', body, false)).json();
    expect(answer).toMatchObject({ content: [], ...end });
    const all = await events(await ask('/v1/messages', body, true));
    expect(all.map((event) => at(event, 'type'))).toEqual([
      'message_start',
      'ping',
      'message_delta',
      'message_stop',
    ]);
    expect(at(all[2], 'delta')).toMatchObject(end);
  });

  test('is a candidate with that reason for Gemini, with the prompt feedback of Google', async () => {
    const body = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };
    const path = '/v1beta/models/one/gemini';
    const answer = await (await ask(`${path}:generateContent`, body, false)).json();
    expect(at(answer, 'candidates', 0, 'finishReason')).toBe('PROHIBITED_CONTENT');
    expect(at(answer, 'promptFeedback')).toEqual(BLOCKED.promptFeedback);
    scene.upstream('up').script(sse(frame(BLOCKED)));
    const streamed = await scene.gateway.post('/models/one/gemini:streamGenerateContent?alt=sse', body);
    expect((await events(streamed)).at(-1)).toMatchObject({
      candidates: [{ finishReason: 'PROHIBITED_CONTENT' }],
      promptFeedback: BLOCKED.promptFeedback,
    });
  });

  test('a response without a candidate and without a reason is an error', async () => {
    scene.upstream('up').script(whole({ promptFeedback: {}, modelVersion: 'm' }));
    const response = await scene.gateway.post('/chat/completions', chat);
    expect(response.status).toBe(502);
    expect(list(await response.json(), 'choices')).toEqual([]);
  });
});
