// Members of OpenAI's answers beside the text, which reach a client of the same protocol through a translation too.
import { afterAll, describe, expect, test } from 'bun:test';
import { chatBody, frame, responsesBody, stream, whole } from '../../support/upstreams/answers.ts';
import { frames, startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());

const SAFE = { hate: { filtered: false, severity: 'safe' } };
const PROMPT_RESULTS = [{ prompt_index: 0, content_filter_results: SAFE }];
const MODERATION = { output: { model: 'omni-moderation-latest', results: [] } };
const NO = { token: 'No', logprob: -0.1, bytes: [78, 111], top_logprobs: [] };
const PAGE = { url: 'https://a.example/', title: 'A', start_index: 0, end_index: 3 };

function chunk(choice: object | undefined, outer: object = {}): string {
  const choices = choice ? [{ index: 0, delta: {}, finish_reason: null, ...choice }] : [];
  const envelope = { id: 'chatcmpl-up', object: 'chat.completion.chunk', created: 1, model: 'm' };
  return frame({ ...envelope, choices, ...outer });
}

/** Asks for log probabilities. @returns the body, or the chunks of the stream */
async function ask(answer: string | object): Promise<readonly Json[]> {
  const isStreamed = typeof answer === 'string';
  scene.upstream('up').script(isStreamed ? stream(answer) : whole(answer));
  const response = await scene.gateway.post('/chat/completions', {
    model: 'one/chat',
    messages: [{ role: 'user', content: 'Hello' }],
    stream: isStreamed,
    logprobs: true,
  });
  expect([response.status, response.headers.get('x-dragoman-lane')]).toEqual([200, 'translate']);
  const text = await response.text();
  return isStreamed
    ? frames(text).filter((each): each is Json => each !== '[DONE]')
    : [JSON.parse(text) as Json];
}

const withText = (content: string): string => chunk({ delta: { role: 'assistant', content } });

describe('results of filters', () => {
  test('come with the last chunk, also from chunks without a choice', async () => {
    const chunks = await ask(
      chunk(undefined, { id: '', model: '', prompt_filter_results: PROMPT_RESULTS }) +
        withText('Hi') +
        chunk({ finish_reason: 'stop' }) +
        chunk(undefined, { moderation: MODERATION }) +
        'data: [DONE]\n\n',
    );
    expect(chunks.every((each) => list(each, 'choices').length === 1)).toBe(true);
    const last = chunks.at(-1);
    expect(at(last, 'choices', 0, 'finish_reason')).toBe('stop');
    expect(at(last, 'prompt_filter_results')).toEqual(PROMPT_RESULTS);
    expect(at(last, 'moderation')).toEqual(MODERATION);
  });

  test('are not replaced by the empty ones of the last chunk', async () => {
    const chunks = await ask(
      chunk({ delta: { content: 'Hi' }, content_filter_results: SAFE }) +
        chunk({ finish_reason: 'stop', content_filter_results: {} }) +
        'data: [DONE]\n\n',
    );
    expect(at(chunks.at(-1), 'choices', 0, 'content_filter_results')).toEqual(SAFE);
  });
});

describe('a refusal', () => {
  test('has its log probabilities in a whole answer', async () => {
    const body = chatBody({ refusal: 'No' });
    const [choice] = list(body as Json, 'choices');
    const [answer] = await ask({
      ...body,
      choices: [{ ...(choice as object), logprobs: { content: null, refusal: [NO] } }],
    });
    expect(at(answer, 'choices', 0, 'message', 'refusal')).toBe('No');
    expect(at(answer, 'choices', 0, 'logprobs')).toEqual({ content: null, refusal: [NO] });
  });

  test('has its log probabilities in a stream', async () => {
    const chunks = await ask(
      chunk({ delta: { role: 'assistant', refusal: 'No' }, logprobs: { content: null, refusal: [NO] } }) +
        chunk({ finish_reason: 'stop' }) +
        'data: [DONE]\n\n',
    );
    const given = chunks.map((each) => at(each, 'choices', 0, 'logprobs')).filter(Boolean);
    expect(given).toEqual([{ content: null, refusal: [NO] }]);
  });

  test('does not take the citations of the text before it', async () => {
    const annotations = [{ type: 'url_citation', url_citation: PAGE }];
    const [answer] = await ask(chatBody({ content: 'See A.', refusal: 'No more.', annotations }));
    expect(at(answer, 'choices', 0, 'message', 'annotations')).toEqual(annotations);
  });
});

describe('a service tier that a Responses upstream names only at the end of its stream', () => {
  const PROTOCOLS = ['/chat/completions', '/responses'] as const;

  test.each(PROTOCOLS)('is that of the response in the end (%s)', async (path) => {
    const response = responsesBody([]);
    const opening = { ...response, status: 'in_progress', service_tier: 'auto' };
    const events = [
      { type: 'response.created', response: opening },
      {
        type: 'response.output_text.delta',
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        delta: 'Hi',
      },
      { type: 'response.completed', response: { ...response, service_tier: 'priority' } },
    ];
    scene.upstream('up').script(stream(events.map((event) => frame(event)).join('')));
    const question =
      path === '/responses' ? { input: 'Hello' } : { messages: [{ role: 'user', content: 'Hello' }] };
    const answer = await scene.gateway.post(path, { model: 'one/responses', stream: true, ...question });
    const all = (await answer.text())
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice('data: '.length)) as Json);
    const last = all.at(-1);
    expect(at(path === '/responses' ? at(last, 'response') : last, 'service_tier')).toBe('priority');
  });
});

describe('undocumented members of a message that only calls a tool', () => {
  const MORE = { reasoning_opaque: 'b3BhcXVl' };
  const CALL = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };

  test('reach the client in a whole answer', async () => {
    const [answer] = await ask(chatBody({ tool_calls: [CALL], ...MORE }, 'tool_calls'));
    expect(at(answer, 'choices', 0, 'message')).toMatchObject({ tool_calls: [CALL], ...MORE });
  });

  test('reach the client in a stream', async () => {
    const chunks = await ask(
      chunk({ delta: { role: 'assistant', ...MORE } }) +
        chunk({ delta: { tool_calls: [{ index: 0, ...CALL }] } }) +
        chunk({ finish_reason: 'tool_calls' }) +
        'data: [DONE]\n\n',
    );
    const deltas = chunks.map((each) => at(each, 'choices', 0, 'delta', 'reasoning_opaque'));
    expect(deltas.filter(Boolean)).toEqual([MORE.reasoning_opaque]);
    expect(at(chunks.at(-1), 'choices', 0, 'finish_reason')).toBe('tool_calls');
  });

  test('are reported to a client of another protocol', async () => {
    scene.upstream('up').script(whole(chatBody({ tool_calls: [CALL], ...MORE }, 'tool_calls')));
    const answer = await scene.gateway.post('/responses', { model: 'one/chat', input: 'Hello' });
    expect(list((await answer.json()) as Json, 'output').map((item) => at(item, 'type'))).toEqual([
      'function_call',
    ]);
    expect(answer.headers.get('x-dragoman-report')).toContain('output:dropped');
  });
});
