// A client of Responses that asks for a summary reads what a model of any family thought as one, whole and streamed, and
// gives it back as it came.
import { afterAll, describe, expect, test } from 'bun:test';
import { startGateway } from '../../../support/harness.ts';
import { framesOf } from '../../../support/recordings/loose.ts';
import { checkResponse, checkResponseStream } from '../../../support/rules/responses-stream-rules.ts';
import { responsesBody, whole } from '../../../support/upstreams/answers.ts';
import { at, list, type Json } from '../../../support/upstreams/json-path.ts';
import { startUpstream } from '../../../support/upstreams/scripted-upstream.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const tools = [{ type: 'function', name: 'get_weather', parameters: { type: 'object', properties: {} } }];

describe.each(['sim/messages', 'sim/claude', 'sim/gemini', 'sim/deepseek'])('%s', (model) => {
  const body = (summary: string | undefined, more: object): object => ({
    model,
    tools,
    reasoning: { effort: 'high', ...(summary === undefined ? {} : { summary }) },
    include: ['reasoning.encrypted_content'],
    ...more,
  });
  const ask = async (summary: string | undefined, more: object): Promise<Json> => {
    const response = await gateway.post('/responses', body(summary, more));
    expect(response.status).toBe(200);
    return (await response.json()) as Json;
  };
  const INPUT = { input: 'call get_weather {"city": "Lima"}' };

  test('a summary is one, whole and streamed', async () => {
    const whole = await ask('auto', INPUT);
    expect(checkResponse(whole)).toEqual([]);
    const thought = list(whole, 'output').find((item) => at(item, 'type') === 'reasoning') ?? null;
    expect(String(at(thought, 'summary', 0, 'text')).length).toBeGreaterThan(10);
    expect(at(thought, 'content')).toBeUndefined();
    const stream = await gateway.post('/responses', body('auto', { ...INPUT, stream: true }));
    const frames = framesOf(await stream.text());
    expect(checkResponseStream(frames)).toEqual([]);
    const events = frames.map(({ event }) => event);
    expect(events).toContain('response.reasoning_summary_part.added');
    expect(events).toContain('response.reasoning_summary_text.delta');
    expect(events).toContain('response.reasoning_summary_part.done');
    expect(events.filter((event) => event.startsWith('response.reasoning_text'))).toEqual([]);
  });

  test('is returned unchanged, in items and by the id of the response', async () => {
    const first = await ask('auto', INPUT);
    const call = list(first, 'output').find((item) => at(item, 'type') === 'function_call') ?? null;
    const result = { type: 'function_call_output', call_id: at(call, 'call_id'), output: 'fog' };
    const input = [{ role: 'user', content: INPUT.input }, ...list(first, 'output'), result];
    for (const more of [{ input }, { input: [result], previous_response_id: at(first, 'id') }]) {
      const second = await ask('auto', more);
      expect(JSON.stringify(at(second, 'output'))).toContain('get_weather returned: fog');
    }
  });
});

test('a client that requests no summary gets the thinking of Claude unchanged', async () => {
  const body = { model: 'sim/messages', input: 'Hello', reasoning: { effort: 'high' } };
  const answer = (await (await gateway.post('/responses', body)).json()) as Json;
  expect(at(answer, 'output', 0)).toMatchObject({ type: 'reasoning', summary: [] });
  expect(at(answer, 'output', 0, 'content', 0, 'type')).toBe('reasoning_text');
});

// Recorded from DeepSeek, 2026-08: its Responses tell a plain chain of thought, and read it.
test('plain reasoning that was shown as a summary is returned to its model as reasoning', async () => {
  const upstream = await startUpstream();
  const served = {
    base_url: `${upstream.origin}/v1`,
    reasoning_format: 'deepseek-reasoner-v1',
    quirks: { reasoning_replay: 'reasoning_content' },
  };
  const endpoint = { provider: 'deep', model: 'm', protocol: 'openai-responses', reasoning: 'effort' };
  const own = await startGateway({
    providers: { deep: { api_key: 'sk-test', protocols: { 'openai-responses': served } } },
    models: [{ id: 'house/deep', endpoints: [endpoint] }],
  });
  const chain = [{ type: 'reasoning_text', text: 'Look it up.' }];
  const text = { type: 'output_text', text: 'Yes.', annotations: [] };
  upstream.always(
    whole(
      responsesBody([
        { type: 'reasoning', id: 'rs_1', summary: [], content: chain },
        { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [text] },
      ]),
    ),
  );
  const body = { model: 'house/deep', reasoning: { effort: 'high', summary: 'auto' } };
  const first = (await (await own.post('/responses', { ...body, input: 'Hi' })).json()) as Json;
  const shown = list(first, 'output')[0] ?? null;
  expect(shown).toMatchObject({ summary: [{ type: 'summary_text', text: 'Look it up.' }] });
  const user = (content: string): object => ({ role: 'user', content });
  for (const more of [
    { input: [user('Hi'), ...list(first, 'output'), user('Sure?')] },
    // As other clients of the same model gave it: without an id.
    {
      input: [
        user('Hi'),
        { ...(shown as object), id: undefined },
        ...list(first, 'output').slice(1),
        user('Sure?'),
      ],
    },
  ]) {
    const response = await own.post('/responses', { ...body, ...more });
    expect(response.headers.get('x-dragoman-report')).toBeNull();
    const sent = JSON.parse(upstream.requests.at(-1)?.text ?? '{}') as Json;
    const thought = list(sent, 'input').find((item) => at(item, 'type') === 'reasoning') ?? null;
    expect(thought).toMatchObject({ summary: [], content: chain });
  }
  await own.close();
  await upstream.stop();
});
