// Chat Completions as spoken to clients: bad input always gets a clear error, and errors have OpenAI's shape.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ERROR_KINDS, GatewayError } from '../../../src/canonical/index.ts';
import type { JsonObject, JsonValue } from '../../../src/base/json/index.ts';
import type { ErrorKind } from '../../../src/canonical/index.ts';
import {
  GATEWAY_KEYS,
  REQUEST_FIELDS,
  UNSUPPORTED_FIELDS,
} from '../../../src/protocols/openai-chat/fields.ts';
import { openaiChat } from '../../../src/protocols/openai-chat/index.ts';
import { casesOf } from '../../support/share.ts';

const { decodeRequest, encodeError } = openaiChat.server;

describe('decodeRequest', () => {
  test('any JSON is decoded or refused with a GatewayError', () => {
    fc.assert(fc.property(fc.jsonValue(), neverCrashes), { numRuns: casesOf(500) });
  });

  test('any JSON in place of any node of a full request is decoded or refused with a GatewayError', () => {
    const full = fullRequest();
    const paths = nodePaths(full);
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue(), (path, value) =>
        neverCrashes(replaceAt(full, path, value)),
      ),
      { numRuns: casesOf(2000) },
    );
  });

  test('the full request itself is legal', () => {
    expect(decodeRequest(fullRequest()).items.map((item) => item.type)).toEqual([
      'message',
      'message',
      'reasoning',
      'message',
      'tool_call',
      'tool_call',
      'tool_result',
      'message',
    ]);
  });

  test('a wrong type of any member is refused by its name', () => {
    const values: Record<Kind, JsonValue> = {
      string: 'wrong',
      number: 2.5,
      boolean: true,
      array: [{}],
      object: { wrong: 1 },
    };
    const minimal = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
    const unlisted = REQUEST_FIELDS.filter((field) => !(field.name in ACCEPTED)).map((field) => field.name);
    expect(unlisted).toEqual([]);
    for (const { name } of REQUEST_FIELDS) {
      for (const kind of Object.keys(values) as Kind[]) {
        if (ACCEPTED[name]?.includes(kind)) continue;
        const error = refusal({ ...minimal, [name]: values[kind] });
        expect(`${name} as ${kind}: ${error?.param}`).toStartWith(`${name} as ${kind}: ${name}`);
        expect(error?.status).toBe(400);
      }
    }
  });

  test('a member named __proto__ is refused and changes nothing', () => {
    const body: unknown = JSON.parse(
      '{"model":"m","messages":[{"role":"user","content":"x"}],"__proto__":{"stream":true}}',
    );
    expect(refusal(body)?.param).toBe('__proto__');
  });

  test('a body of the largest size with one huge list is decoded in linear time', () => {
    const details = Array.from({ length: 200_000 }, (_, index) => ({
      type: 'reasoning.text',
      text: 'x',
      index,
    }));
    const calls = Array.from({ length: 200_000 }, (_, index) => ({
      id: `c${index}`,
      function: { name: 'f', arguments: '' },
    }));
    const tools = Array.from({ length: 100_000 }, (_, index) => ({
      type: 'function',
      function: { name: `f${index}` },
    }));
    const names = tools.map((tool) => ({ type: 'function', name: tool.function.name }));
    const messages = [{ role: 'assistant', content: 'y', reasoning_details: details, tool_calls: calls }];
    const choice = { type: 'allowed_tools', mode: 'auto', tools: names };
    expect(decodeRequest({ model: 'm', messages, tools, tool_choice: choice }).items).toHaveLength(400_001);
  });

  test('items of one message share one source', () => {
    const { items } = decodeRequest(fullRequest());
    const sources = new Set(
      items.filter((item) => item.path?.startsWith('messages[2]')).map((item) => item.source),
    );
    expect(sources.size).toBe(1);
  });

  test('the lists of members agree with each other', () => {
    const names = REQUEST_FIELDS.map((field) => field.name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of [...GATEWAY_KEYS, ...UNSUPPORTED_FIELDS]) expect(names).toContain(name);
    expect(UNSUPPORTED_FIELDS).toHaveLength(13);
  });
});

describe('encodeError', () => {
  test('every kind has the body of an OpenAI error and the status of the kind', () => {
    for (const kind of Object.keys(ERROR_KINDS) as ErrorKind[]) {
      const { status, body } = encodeError(new GatewayError(kind, 'text', { param: 'p' }), 'req');
      expect(status).toBe(ERROR_KINDS[kind].status);
      expect(Object.keys(body['error'] as object)).toEqual(['message', 'type', 'param', 'code']);
    }
  });

  test('contains the codes that clients match', () => {
    const code = (error: GatewayError): JsonValue | undefined =>
      (encodeError(error, '').body['error'] as JsonObject)['code'];
    expect(code(new GatewayError('not_found', 'no', { param: 'model' }))).toBe('model_not_found');
    expect(code(new GatewayError('context_overflow', 'long'))).toBe('context_length_exceeded');
    expect(code(new GatewayError('authentication', 'key'))).toBe('invalid_api_key');
    expect(code(new GatewayError('rate_limited', 'slow'))).toBe('rate_limit_exceeded');
    expect(code(new GatewayError('quota', 'broke'))).toBe('insufficient_quota');
    expect(code(new GatewayError('invalid_request', 'x', { code: 'own' }))).toBe('own');
  });
});

type Kind = 'string' | 'number' | 'boolean' | 'array' | 'object';
/** The JSON types that each member may have. */
const ACCEPTED: Readonly<Record<string, readonly Kind[]>> = {
  model: ['string'],
  messages: [],
  max_completion_tokens: [],
  max_tokens: [],
  temperature: ['number'],
  top_p: [],
  n: [],
  frequency_penalty: [],
  presence_penalty: [],
  stop: ['string'],
  logit_bias: [],
  logprobs: ['boolean'],
  top_logprobs: [],
  tools: [],
  tool_choice: [],
  parallel_tool_calls: ['boolean'],
  response_format: [],
  reasoning_effort: [],
  verbosity: [],
  web_search_options: ['object'],
  metadata: [],
  stream: ['boolean'],
  stream_options: [],
  seed: [],
  reasoning: ['object'],
  include_reasoning: ['boolean'],
  usage: [],
  provider: ['object'],
  model_routing_config: ['object'],
  models: [],
  user: ['string'],
  safety_identifier: ['string'],
  prompt_cache_key: ['string'],
  prompt_cache_retention: ['string'],
  service_tier: ['string'],
  store: ['boolean'],
  prediction: ['object'],
  modalities: [],
  audio: [],
  functions: [],
  function_call: [],
};

function neverCrashes(body: unknown): void {
  try {
    decodeRequest(body);
  } catch (error) {
    if (!GatewayError.is(error)) throw error;
    expect(error.status).toBe(400);
  }
}

function refusal(body: unknown): GatewayError | undefined {
  try {
    decodeRequest(body);
    return undefined;
  } catch (error) {
    if (GatewayError.is(error)) return error;
    throw error;
  }
}

function fullRequest(): JsonObject {
  return {
    model: 'm',
    messages: [
      {
        role: 'system',
        content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      },
      {
        role: 'user',
        name: 'ann',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
          { type: 'file', file: { file_data: 'AA==', filename: 'a.pdf' } },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'b' }],
        reasoning: 'r',
        reasoning_details: [{ type: 'reasoning.text', text: 'r', signature: 's', format: 'f', index: 0 }],
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'f', arguments: '{' } },
          { id: 'c2', type: 'custom', custom: { name: 'c', input: 'x' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      { role: 'assistant', refusal: 'no' },
    ],
    tools: [
      { type: 'function', function: { name: 'f', parameters: { type: 'object' }, strict: true } },
      {
        type: 'custom',
        custom: { name: 'c', format: { type: 'grammar', grammar: { syntax: 'regex', definition: 'x' } } },
      },
    ],
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
    },
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {}, strict: null } },
    web_search_options: { user_location: { type: 'approximate', approximate: { city: 'x' } } },
    reasoning: { effort: 'low', usage: { include: true } },
    stream: true,
    stream_options: { include_usage: true },
    stop: ['x'],
    logit_bias: { '1': 2 },
    metadata: { a: 'b' },
    provider: { routing: { type: 'order', providers: ['p'] } },
    models: ['m2'],
  };
}

type Path = readonly (string | number)[];

function nodePaths(value: JsonValue | undefined, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [
    at,
    ...Object.entries(value).flatMap(([key, child]) => nodePaths(child as JsonValue, [...at, key])),
  ];
}

function replaceAt(value: JsonValue | undefined, path: Path, replacement: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  const children = value as Record<string | number, JsonValue>;
  const child = replaceAt(children[key], rest, replacement);
  return Array.isArray(value) ? value.with(Number(key), child as JsonValue) : { ...children, [key]: child };
}
