// Members of a whole answer of Gemini (ratings, averages, probabilities of tokens, visited pages, feedback on the
// prompt), as clients of Gemini and of other protocols receive it from an upstream that speaks Gemini.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { frame, stream as sse, whole } from '../../../support/upstreams/answers.ts';
import { frames, startScene, type Scene } from '../../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../../support/upstreams/json-path.ts';

const scenes = new Map<string, Scene>();
beforeAll(async () => {
  scenes.set('translate', await startScene(['up']));
  scenes.set('relay', await startScene(['up'], { faithful: true }));
});
afterAll(async () => {
  for (const scene of scenes.values()) await scene[Symbol.asyncDispose]();
});

const LOGPROBS = {
  chosenCandidates: [{ token: 'Hi', logProbability: -0.5 }],
  topCandidates: [
    {
      candidates: [
        { token: 'Hi', logProbability: -0.5 },
        { token: 'Ho', logProbability: -1 },
      ],
    },
  ],
};
const REST = {
  avgLogprobs: -0.5,
  safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'NEGLIGIBLE' }],
  citationMetadata: { citationSources: [{ startIndex: 0, endIndex: 2, uri: 'https://a.example' }] },
  urlContextMetadata: { urlMetadata: [{ retrievedUrl: 'https://b.example', urlRetrievalStatus: 'OK' }] },
};
const FEEDBACK = { safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'LOW' }] };
const ANSWER = {
  candidates: [
    {
      content: { role: 'model', parts: [{ text: 'Hi' }] },
      finishReason: 'STOP',
      index: 0,
      logprobsResult: LOGPROBS,
      ...REST,
    },
  ],
  promptFeedback: FEEDBACK,
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  modelVersion: 'm',
  responseId: 'r',
};

async function ask(
  lane: string,
  path: string,
  body: object,
  isStreamed: boolean,
  answer: object = ANSWER,
): Promise<Response> {
  const scene = scenes.get(lane);
  if (!scene) throw new Error(`no ${lane}`);
  scene.upstream('up').script(isStreamed ? sse(frame(answer)) : whole(answer));
  const response = await fetch(scene.gateway.origin + path, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return response;
}

describe.each(['translate', 'relay'])('a Gemini client, %s', (lane) => {
  test.each([false, true])('has all of it (stream: %p)', async (isStreamed) => {
    const method = isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent';
    const body = {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { responseLogprobs: true, logprobs: 2 },
    };
    const response = await ask(lane, `/v1beta/models/one/gemini:${method}`, body, isStreamed);
    expect(response.headers.get('x-dragoman-lane')).toBe(lane);
    const text = await response.text();
    const chunks: unknown[] = isStreamed ? frames(text) : [JSON.parse(text)];
    const candidate = Object.assign({}, ...chunks.map((chunk) => at(chunk, 'candidates', 0))) as object;
    expect(candidate).toMatchObject({ ...REST, logprobsResult: LOGPROBS, finishReason: 'STOP' });
    expect(at(chunks.at(-1), 'promptFeedback')).toEqual(FEEDBACK);
  });
});

describe.each([false, true])('clients of other protocols (stream: %p)', (stream) => {
  test('Chat Completions gets the probabilities, and no unknown members', async () => {
    const body = {
      model: 'one/gemini',
      messages: [{ role: 'user', content: 'Hi' }],
      logprobs: true,
      top_logprobs: 2,
      stream,
    };
    const text = await (await ask('translate', '/v1/chat/completions', body, stream)).text();
    const all: unknown[] = stream
      ? frames(text).filter((each) => typeof each === 'object')
      : [JSON.parse(text)];
    const tokens = all.flatMap((each) => list(each, 'choices', 0, 'logprobs', 'content'));
    expect(tokens).toEqual([
      expect.objectContaining({
        token: 'Hi',
        logprob: -0.5,
        top_logprobs: [
          expect.objectContaining({ token: 'Hi' }),
          expect.objectContaining({ token: 'Ho', logprob: -1 }),
        ],
      }),
    ]);
    const cited = all.flatMap((each) => [
      ...list(each, 'choices', 0, 'message', 'annotations'),
      ...list(each, 'choices', 0, 'delta', 'annotations'),
    ]);
    expect(cited.map((each) => at(each, 'url_citation', 'url'))).toEqual(['https://a.example']);
    for (const name of [...Object.keys(REST), 'promptFeedback']) expect(text).not.toContain(name);
  });

  test('Responses has them in its text', async () => {
    const body = {
      model: 'one/gemini',
      input: 'Hi',
      store: false,
      include: ['message.output_text.logprobs'],
      top_logprobs: 2,
      stream,
    };
    const text = await (await ask('translate', '/v1/responses', body, stream)).text();
    expect(text).toContain('"logprob":-0.5');
    expect(text).toContain('"token":"Ho"');
  });
});

test.each([false, true])('text keeps its citations if a call follows it (stream: %p)', async (stream) => {
  const [candidate] = ANSWER.candidates;
  const parts = [{ text: 'Hi' }, { functionCall: { name: 'f', args: {} } }];
  const calling = { ...ANSWER, candidates: [{ ...candidate, content: { role: 'model', parts } }] };
  const body = {
    model: 'one/gemini',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ type: 'function', function: { name: 'f' } }],
    stream,
  };
  const response = await ask('translate', '/v1/chat/completions', body, stream, calling);
  const text = await response.text();
  expect(text).toContain('"url":"https://a.example"');
  expect(text).toContain('"finish_reason":"tool_calls"');
});
