// Chat Completions as spoken to clients: what its requests share, and the codes of its errors. The tests of the server
// send invalid, damaged and large requests over sockets.
import { expect, test } from 'bun:test';
import { GatewayError } from '../../../src/canonical/index.ts';
import type { JsonObject, JsonValue } from '../../../src/base/json/index.ts';
import {
  GATEWAY_KEYS,
  REQUEST_FIELDS,
  UNSUPPORTED_FIELDS,
} from '../../../src/protocols/openai-chat/fields.ts';
import { openaiChat } from '../../../src/protocols/openai-chat/index.ts';

const { decodeRequest, encodeError } = openaiChat.server;

test('items of one message share one source', () => {
  const { items } = decodeRequest({
    model: 'm',
    messages: [
      { role: 'user', content: 'a' },
      {
        role: 'assistant',
        content: 'b',
        reasoning: 'r',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
    ],
  });
  const ofOne = items.filter((item) => item.path?.startsWith('messages[1]'));
  expect(ofOne.map(({ type }) => type)).toEqual(['reasoning', 'message', 'tool_call']);
  expect(new Set(ofOne.map(({ source }) => source)).size).toBe(1);
});

test('the lists of members agree with each other', () => {
  const names = REQUEST_FIELDS.map((field) => field.name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of [...GATEWAY_KEYS, ...UNSUPPORTED_FIELDS]) expect(names).toContain(name);
  expect(UNSUPPORTED_FIELDS).toHaveLength(13);
});

test('errors contain the codes that clients match', () => {
  const code = (error: GatewayError): JsonValue | undefined =>
    (encodeError(error, '').body['error'] as JsonObject)['code'];
  expect(code(new GatewayError('not_found', 'no', { param: 'model' }))).toBe('model_not_found');
  expect(code(new GatewayError('context_overflow', 'long'))).toBe('context_length_exceeded');
  expect(code(new GatewayError('authentication', 'key'))).toBe('invalid_api_key');
  expect(code(new GatewayError('rate_limited', 'slow'))).toBe('rate_limit_exceeded');
  expect(code(new GatewayError('quota', 'broke'))).toBe('insufficient_quota');
  expect(code(new GatewayError('invalid_request', 'x', { code: 'own' }))).toBe('own');
});
