// Members that strictly typed clients demand of every answer. The lists are those of the official SDKs' types: a member
// that a newer SDK demands does not compile until it is in them.
import type {
  Message,
  MessageDeltaUsage,
  RawMessageDeltaEvent,
  TextBlock,
  ToolUseBlock,
  Usage,
} from '@anthropic-ai/sdk/resources/messages';
import type { ModelInfo } from '@anthropic-ai/sdk/resources/models';
import { afterAll, describe, expect, test } from 'bun:test';
import type { Response as OpenaiResponse, ResponseUsage } from 'openai/resources/responses/responses';
import { framesOf } from '../../support/recordings/loose.ts';
import { DIALECTS, startEveryUpstream } from '../../support/upstreams/every-upstream.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';

type Demanded<T> = { [Name in keyof T]-?: object extends Pick<T, Name> ? never : Name }[keyof T];
type Names<T> = Readonly<Record<Demanded<T>, true>>;

const USAGE: Names<Usage> = {
  cache_creation: true,
  cache_creation_input_tokens: true,
  cache_read_input_tokens: true,
  inference_geo: true,
  input_tokens: true,
  output_tokens: true,
  output_tokens_details: true,
  server_tool_use: true,
  service_tier: true,
  speed: true,
};
const DELTA_USAGE: Names<MessageDeltaUsage> = {
  cache_creation_input_tokens: true,
  cache_read_input_tokens: true,
  input_tokens: true,
  output_tokens: true,
  output_tokens_details: true,
  server_tool_use: true,
};
const MESSAGE: Names<Message> = {
  id: true,
  container: true,
  content: true,
  diagnostics: true,
  model: true,
  role: true,
  stop_details: true,
  stop_reason: true,
  stop_sequence: true,
  type: true,
  usage: true,
};
const DELTA: Names<RawMessageDeltaEvent.Delta> = {
  container: true,
  stop_details: true,
  stop_reason: true,
  stop_sequence: true,
};
/** The SDK declares `citations` as required, but Anthropic omits them where there are none. */
const TEXT: Names<Omit<TextBlock, 'citations'>> = { text: true, type: true };
const CALL: Names<ToolUseBlock> = { id: true, caller: true, input: true, name: true, type: true };
const MODEL: Names<ModelInfo> = {
  id: true,
  capabilities: true,
  created_at: true,
  deprecated_at: true,
  display_name: true,
  lifecycle: true,
  line: true,
  max_input_tokens: true,
  max_tokens: true,
  retires_at: true,
  type: true,
};
/** `output_text` is the SDK's own. */
const RESPONSE: Names<Omit<OpenaiResponse, 'output_text'>> = {
  id: true,
  access_programs: true,
  created_at: true,
  error: true,
  incomplete_details: true,
  instructions: true,
  metadata: true,
  model: true,
  object: true,
  output: true,
  parallel_tool_calls: true,
  temperature: true,
  tool_choice: true,
  tools: true,
  top_p: true,
};
const RESPONSE_USAGE: Names<ResponseUsage> = {
  input_tokens: true,
  input_tokens_details: true,
  output_tokens: true,
  output_tokens_details: true,
  total_tokens: true,
};

/** Names of the list that the node lacks. */
function missing(names: Readonly<Record<string, true>>, node: Json | undefined): string[] {
  return Object.keys(names).filter((name) => at(node, name) === undefined);
}

/** Thinking blocks do not count: models decide if and how they think. */
function isSaid(block: Json | undefined): boolean {
  return !String(at(block, 'type')).endsWith('thinking');
}

const gateway = await startEveryUpstream();
afterAll(() => gateway.close());

const tools = [
  {
    name: 'get_weather',
    description: 'Weather of a city',
    input_schema: { type: 'object', properties: { city: { type: 'string' } } },
  },
];
const TASK = 'explain, then call get_weather for "Lima"';

describe.each(DIALECTS)('Messages over %s', (model) => {
  const body = { model, max_tokens: 4000, tools, messages: [{ role: 'user', content: TASK }] };

  test('a whole message has them all', async () => {
    const message = (await (await gateway.post('/messages', body)).json()) as Json;
    expect(missing(MESSAGE, message)).toEqual([]);
    expect(missing(USAGE, at(message, 'usage'))).toEqual([]);
    const blocks = list(message, 'content').filter(isSaid);
    expect(blocks.map((block) => at(block, 'type'))).toEqual(['text', 'tool_use']);
    expect(missing(TEXT, blocks[0])).toEqual([]);
    expect(missing(CALL, blocks[1])).toEqual([]);
  });

  test('so have the events of a stream', async () => {
    const text = await (await gateway.post('/messages', { ...body, stream: true })).text();
    const events = framesOf(text).map(({ data }) => JSON.parse(data) as Json);
    const ofType = (type: string): Json[] => events.filter((event) => at(event, 'type') === type);
    const [start] = ofType('message_start');
    expect(missing(MESSAGE, at(start, 'message'))).toEqual([]);
    expect(missing(USAGE, at(start, 'message', 'usage'))).toEqual([]);
    const [first, second] = ofType('content_block_start')
      .map((event) => at(event, 'content_block'))
      .filter(isSaid);
    expect(missing(TEXT, first)).toEqual([]);
    expect(missing(CALL, second)).toEqual([]);
    const [delta] = ofType('message_delta');
    expect(missing(DELTA, at(delta, 'delta'))).toEqual([]);
    expect(missing(DELTA_USAGE, at(delta, 'usage'))).toEqual([]);
  });
});

describe.each(DIALECTS)('Responses over %s', (model) => {
  test('a whole response has them all', async () => {
    const response = (await (await gateway.post('/responses', { model, input: 'Hello' })).json()) as Json;
    expect(missing(RESPONSE, response)).toEqual([]);
    expect(missing(RESPONSE_USAGE, at(response, 'usage'))).toEqual([]);
  });

  test('so has each response in the events of a stream', async () => {
    const text = await (await gateway.post('/responses', { model, input: 'Hello', stream: true })).text();
    const responses = framesOf(text).flatMap(({ data }) => at(JSON.parse(data) as Json, 'response') ?? []);
    expect(responses).toHaveLength(3);
    for (const response of responses) expect(missing(RESPONSE, response)).toEqual([]);
    expect(missing(RESPONSE_USAGE, at(responses.at(-1), 'usage'))).toEqual([]);
  });
});

test('so have the models that clients of Messages list', async () => {
  const headers = { authorization: `Bearer ${gateway.key}`, 'anthropic-version': '2023-06-01' };
  const page = (await (await fetch(`${gateway.baseURL}/models`, { headers })).json()) as Json;
  expect(missing(MODEL, at(page, 'data', 0))).toEqual([]);
});
