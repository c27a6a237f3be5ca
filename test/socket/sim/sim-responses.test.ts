// The simulated Responses service: what it answers, what it takes back, and what it refuses,
// through the official SDK and a real socket.
import { afterAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { events, parameters, person, RESPONSES, serveSim, user } from '../../support/sim-server.ts';

const server = serveSim();
const openai = new OpenAI({ apiKey: 'sk-test', baseURL: `${server.origin}/openai/v1`, maxRetries: 0 });
afterAll(() => server.stop());

describe('Responses', () => {
  const tool = { type: 'function', name: 'get_weather', parameters, strict: true } as const;

  test('reasons, calls, and accepts its reasoning only unchanged', async () => {
    const input: OpenAI.Responses.ResponseInput = [user('Weather in Paris?')];
    const common = {
      model: 'responses',
      tools: [tool],
      store: false,
      include: ['reasoning.encrypted_content' as const],
    };
    const stream = openai.responses.stream({
      ...common,
      input,
      reasoning: { effort: 'low', summary: 'auto' },
    });
    let summary = '';
    stream.on('response.reasoning_summary_text.delta', (event) => (summary += event.delta));
    const first = await stream.finalResponse();
    const plain = await openai.responses.create({
      ...common,
      input,
      reasoning: { effort: 'low', summary: 'auto' },
    });
    expect({ ...first.output }).toMatchObject({ ...plain.output });
    const [reasoning, call] = first.output;
    if (reasoning?.type !== 'reasoning' || call?.type !== 'function_call')
      throw new Error('no reasoning and call');
    expect(reasoning.summary[0]?.text).toBe(summary);
    expect(first.usage?.output_tokens_details.reasoning_tokens).toBe(32);
    expect(JSON.parse(call.arguments)).toEqual({ city: 'Paris', days: 1, unit: 'celsius' });

    const result = { type: 'function_call_output' as const, call_id: call.call_id, output: 'sunny' };
    const second = await openai.responses.create({
      ...common,
      input: [...input, reasoning, plain.output[1] as typeof call, result],
    });
    expect(second.output_text).toBe('get_weather returned: sunny');

    const altered = { ...reasoning, encrypted_content: `${reasoning.encrypted_content?.slice(0, -4)}AAAA` };
    const attempt = (items: unknown[]): Promise<string> =>
      server.post(RESPONSES, { ...common, input: items }).then((response) => response.text());
    expect(await attempt([...input, altered, plain.output[1], result])).toContain(
      'invalid_encrypted_content',
    );
    expect(await attempt([...input, plain.output[1], result])).toContain(
      "without its required 'reasoning' item",
    );
    expect(
      await attempt([...input, { ...reasoning, encrypted_content: undefined }, plain.output[1], result]),
    ).toContain('not persisted');
    expect(await attempt([...input, result])).toContain('No tool call found');
    expect(await attempt([...input, plain.output[0], plain.output[1]])).toContain('No tool output found');
  });

  test('parses structured output and cites', async () => {
    const answer = await openai.responses.create({
      model: 'responses',
      input: 'A profile of "Ada", 36',
      text: { format: { type: 'json_schema', name: 'person', strict: true, schema: person } },
    });
    expect(JSON.parse(answer.output_text)).toEqual({ name: 'Ada', age: 36 });
    const cited = await openai.responses
      .stream({ model: 'responses', input: 'News?', tools: [{ type: 'web_search' }] })
      .finalResponse();
    expect(cited.output.map((item) => item.type)).toEqual(['reasoning', 'web_search_call', 'message']);
    const part = cited.output[2]?.type === 'message' ? cited.output[2].content[0] : undefined;
    expect(part).toMatchObject({
      type: 'output_text',
      annotations: [{ type: 'url_citation' }, { type: 'url_citation' }],
    });
  });

  test('numbers its events and closes what it opens', async () => {
    const response = await server.post(RESPONSES, {
      model: 'responses',
      stream: true,
      input: 'Weather in Rome?',
      tools: [tool, { type: 'custom', name: 'note' }],
      tool_choice: 'required',
      reasoning: { summary: 'auto' },
    });
    const list = events(await response.text());
    list.forEach(({ event, data }, i) =>
      expect(JSON.parse(data)).toMatchObject({ type: event, sequence_number: i }),
    );
    const count = (type: string): number => list.filter(({ event }) => event === type).length;
    expect(count('response.output_item.added')).toBe(count('response.output_item.done'));
    expect([list[0]?.event, list[1]?.event, list.at(-1)?.event]).toEqual([
      'response.created',
      'response.in_progress',
      'response.completed',
    ]);
  });

  test('accepts the undocumented member that Codex sends', async () => {
    const body = { model: 'responses', input: 'Hi', store: false };
    const answer = await openai.post<{ status: string }>('/responses', {
      body: { ...body, client_metadata: { turn_id: 'turn-1' } },
    });
    expect(answer.status).toBe('completed');
  });

  test('refuses what OpenAI refuses', async () => {
    const refused = async (more: object, part: string): Promise<void> => {
      const response = await server.post(RESPONSES, { model: 'responses', input: 'x', ...more });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(await response.text()).toContain(part);
    };
    await refused({ stop: ['x'] }, "Unknown parameter: 'stop'.");
    await refused({ previous_response_id: 'resp_1' }, 'previous_response_not_found');
    await refused({ max_output_tokens: 3 }, 'integer_below_min_value');
    await refused(
      { input: [{ type: 'function_call', id: 'call_1', call_id: 'call_1', name: 'f', arguments: '{}' }] },
      "begins with 'fc'",
    );
    await refused(
      { input: [{ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }] },
      'output_text',
    );
    await refused({ model: 'reasoner-effort', reasoning: { effort: 'none' } }, "Unsupported value: 'none'");
    await refused(
      { model: 'echo', reasoning: { effort: 'low' } },
      "Unsupported parameter: 'reasoning.effort'",
    );
  });
});
