// The published checks of Open Responses (openresponses.org/compliance, read 2026-11), each under its own name, against a
// model behind every protocol, with reasoning shown. Their client sends no header of its own, so the configuration
// chooses the words. The answers fit the schemas, and do what each check asks for.
import { afterAll, describe, expect, test } from 'bun:test';
import { framesOf, type Loose } from '../../support/recordings/loose.ts';
import { fitsOpenly, fitsOpenlyAs } from '../../support/recordings/openai-schema.ts';
import { SocketClient, type Message } from '../../support/socket-client.ts';
import { responsesBody, whole as answerOf } from '../../support/upstreams/answers.ts';
import { DIALECTS, startEveryUpstream } from '../../support/upstreams/every-upstream.ts';
import { startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { PNG_URL } from '../../support/images.ts';

const gateway = await startEveryUpstream({ compatibility: { open_responses: true } });
afterAll(() => gateway.close());

const REASONING = { reasoning: { effort: 'high' } };
const PDF = `data:application/pdf;base64,${Buffer.from('%PDF-1.1\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF').toString('base64')}`;
const WEATHER = {
  type: 'function',
  name: 'get_weather',
  description: 'Get the current weather of a place',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};
const said = (role: string, content: unknown): object => ({ type: 'message', role, content });
const ASKED = [said('user', 'What is the weather in San Francisco?')];

/** A whole answer that fits the schema. */
async function whole(model: string, body: object): Promise<Json> {
  const response = await gateway.post('/responses', { model, ...REASONING, ...body });
  const json = (await response.json()) as Json;
  expect([response.status, fitsOpenlyAs('ResponseResource', json as unknown as Loose)]).toEqual([200, []]);
  expect(list(json, 'output')).not.toEqual([]);
  return json;
}

/** A streamed answer of which every event fits its schema. */
async function streamed(model: string, body: object): Promise<readonly Json[]> {
  const asked = { model, ...REASONING, ...body, stream: true };
  const response = await gateway.post('/responses', asked);
  const events = framesOf(await response.text())
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }) => JSON.parse(data) as Json);
  expect(events.flatMap((event) => fitsOpenly(event as unknown as Loose))).toEqual([]);
  return events;
}

const completed = (response: Json | undefined): void => expect(at(response, 'status')).toBe('completed');
const types = (response: Json): readonly unknown[] =>
  list(response, 'output').map((item) => at(item, 'type'));
const call = (response: Json): Json | undefined =>
  list(response, 'output').find((item) => at(item, 'type') === 'function_call');

/** A turn over a socket that ends well, with events that fit their schemas. @returns its id */
async function turn(socket: SocketClient, model: string, body: object): Promise<string> {
  const messages = await socket.turn({ model, ...REASONING, ...body });
  expect(messages.flatMap((message) => fitsOpenly(message as unknown as Loose))).toEqual([]);
  completed(at(messages.at(-1), 'response'));
  return String(at(messages.at(-1), 'response', 'id'));
}

/** The code with which a turn fails. */
async function failure(socket: SocketClient, model: string, body: object): Promise<unknown> {
  const messages: readonly Message[] = await socket.turn({ model, store: false, ...body });
  const last = messages.at(-1);
  return at(last, 'error', 'code') ?? at(last, 'response', 'error', 'code') ?? at(last, 'type');
}

const open = (): Promise<SocketClient> => SocketClient.open(gateway.origin);
const NOT_FOUND = 'previous_response_not_found';

const CHECKS: Readonly<Record<string, (model: string) => Promise<void>>> = {
  'basic-response': async (model) =>
    completed(await whole(model, { input: [said('user', 'Say hello in three words.')] })),
  'assistant-phase': async (model) => {
    const input = [
      { ...said('assistant', 'I should answer with the number.'), phase: 'commentary' },
      { ...said('assistant', 'The number is four.'), phase: 'final_answer' },
      said('user', 'Repeat the number.'),
    ];
    completed(await whole(model, { input }));
  },
  'streaming-response': async (model) =>
    completed(at((await streamed(model, { input: [said('user', 'Count to five.')] })).at(-1), 'response')),
  'system-prompt': async (model) =>
    completed(await whole(model, { input: [said('system', 'Talk like a pirate.'), said('user', 'Hello.')] })),
  'tool-calling': async (model) =>
    expect(types(await whole(model, { input: ASKED, tools: [WEATHER] }))).toContain('function_call'),
  'tool-calling-streaming': async (model) => {
    const events = await streamed(model, { input: ASKED, tools: [WEATHER] });
    const seen = events.map((event) => [at(event, 'type'), at(event, 'item', 'type')].join(' ').trim());
    expect(seen).toEqual(
      expect.arrayContaining([
        'response.output_item.added function_call',
        'response.function_call_arguments.delta',
        'response.function_call_arguments.done',
        'response.output_item.done function_call',
      ]),
    );
  },
  'function-call-roundtrip': async (model) => {
    const first = await whole(model, {
      input: ASKED,
      tools: [WEATHER],
      tool_choice: { type: 'function', name: 'get_weather' },
    });
    const output = {
      type: 'function_call_output',
      call_id: at(call(first), 'call_id'),
      output: '18 degrees',
    };
    const input = [...ASKED, ...list(first, 'output'), output];
    completed(await whole(model, { input, tools: [WEATHER] }));
  },
  'image-input': async (model) => {
    const image = { type: 'input_image', image_url: PNG_URL };
    completed(
      await whole(model, { input: [said('user', [{ type: 'input_text', text: 'What is it?' }, image])] }),
    );
  },
  'file-input': async (model) => {
    const file = { type: 'input_file', filename: 'a.pdf', file_data: PDF };
    completed(
      await whole(model, { input: [said('user', [{ type: 'input_text', text: 'Its title?' }, file])] }),
    );
  },
  'multi-turn': async (model) =>
    completed(
      await whole(model, {
        input: [
          said('user', 'I am a gardener.'),
          said('assistant', 'Good to know.'),
          said('user', 'What am I?'),
        ],
      }),
    ),
  'previous-response-id': async (model) => {
    const first = await whole(model, { input: 'Remember: papaya.' });
    const second = await whole(model, { input: 'What was it?', previous_response_id: at(first, 'id') });
    completed(second);
    expect(at(second, 'previous_response_id')).toBe(at(first, 'id') ?? 'none');
  },
  'compact-response': async (model) => {
    const input = [said('user', 'We launch on Tuesday.'), said('assistant', 'Understood.')];
    const body = { model, input, prompt_cache_key: 'check' };
    const response = await gateway.post('/responses/compact', body);
    const json = (await response.json()) as Json;
    expect([response.status, fitsOpenlyAs('CompactResource', json as unknown as Loose)]).toEqual([200, []]);
    expect(types(json)).toContain('compaction');
  },
  'compact-missing-model': async () => {
    const response = await gateway.post('/responses/compact', { input: [said('user', 'Compact it.')] });
    expect(response.status).toBe(400);
  },
  'websocket-response': async (model) => {
    await using socket = await open();
    await turn(socket, model, { input: [said('user', 'Count to three.')] });
  },
  'websocket-sequential-responses': async (model) => {
    await using socket = await open();
    const first = await turn(socket, model, { store: false, input: 'Say: first' });
    expect(await turn(socket, model, { store: false, input: 'Say: second' })).not.toBe(first);
  },
  'websocket-continuation': async (model) => {
    await using socket = await open();
    const previous_response_id = await turn(socket, model, { store: false, input: 'Remember: cobalt.' });
    await turn(socket, model, { store: false, previous_response_id, input: 'What was it?' });
  },
  'websocket-generate-false': async (model) => {
    await using socket = await open();
    const previous_response_id = await turn(socket, model, {
      store: false,
      generate: false,
      input: 'Hello.',
    });
    await turn(socket, model, { store: false, previous_response_id, input: 'Go on.' });
  },
  'websocket-reconnect-store-false-recovery': async (model) => {
    let previous_response_id = '';
    {
      await using socket = await open();
      previous_response_id = await turn(socket, model, { store: false, input: 'Remember: copper.' });
    }
    await using socket = await open();
    expect(await failure(socket, model, { previous_response_id, input: 'Go on.' })).toBe(NOT_FOUND);
    await turn(socket, model, { store: false, input: [said('user', 'Start anew.')] });
  },
  'websocket-previous-response-not-found': async (model) => {
    await using socket = await open();
    const previous_response_id = 'resp_missing_1234567890';
    expect(await failure(socket, model, { previous_response_id, input: 'Go on.' })).toBe(NOT_FOUND);
  },
  'websocket-failed-continuation-evicts-cache': async (model) => {
    await using socket = await open();
    const previous_response_id = await turn(socket, model, { store: false, input: 'Remember: ember.' });
    const output = { type: 'function_call_output', call_id: 'call_missing', output: 'No call asked for it.' };
    const failed = await failure(socket, model, { previous_response_id, input: [output] });
    expect(failed).not.toBe('response.completed');
    expect(await failure(socket, model, { previous_response_id, input: 'Go on.' })).toBe(NOT_FOUND);
  },
  'websocket-compact-new-chain': async (model) => {
    const input = [said('user', 'Remember: slate.'), said('assistant', 'OK.'), said('user', 'Compress it.')];
    const compacted = (await (await gateway.post('/responses/compact', { model, input })).json()) as Json;
    await using socket = await open();
    const goesOn = [...list(compacted, 'output'), said('user', 'Go on.')];
    await turn(socket, model, { store: false, input: goesOn, tools: [] });
  },
};

test('response-output-phase-schema: phases of messages are kept, and fit', async () => {
  await using scene = await startScene(['up']);
  const message = (id: string, phase: string): object => ({
    ...said('assistant', [{ type: 'output_text', text: 'Four.', annotations: [], logprobs: [] }]),
    id,
    phase,
    status: 'completed',
  });
  const output = [message('msg_1', 'commentary'), message('msg_2', 'final_answer')];
  scene.upstream('up').script(answerOf(responsesBody(output)));
  const response = await scene.gateway.post('/responses', { model: 'one/responses', input: 'Two and two?' });
  const json = (await response.json()) as Json;
  expect(fitsOpenlyAs('ResponseResource', json as unknown as Loose)).toEqual([]);
  expect(list(json, 'output').map((item) => at(item, 'phase'))).toEqual(['commentary', 'final_answer']);
});

describe.each([...DIALECTS, 'sim/claude'])('%s', (model) => {
  test.each(Object.keys(CHECKS))('passes %s', async (check) => {
    await CHECKS[check]?.(model);
  });
});
