// The kinds that common servers' errors become, and what is kept of them.
import { describe, expect, test } from 'bun:test';
import type { ErrorKind, Fault } from '../../../../src/canonical/index.ts';
import {
  decodeError,
  decodeInlineError,
} from '../../../../src/protocols/openai-chat/answers/decode-error.ts';

const noHeaders = (): null => null;

describe('an error answer becomes one kind', () => {
  const openai = (message: string, code: string | null = null, type = 'invalid_request_error'): string =>
    JSON.stringify({ error: { message, type, param: null, code } });
  const cases: readonly [number, string, ErrorKind, Fault][] = [
    [400, openai('bad'), 'invalid_request', 'client'],
    [400, openai('too long', 'context_length_exceeded'), 'context_overflow', 'client'],
    [400, openai("This model's maximum context length is 8192 tokens."), 'context_overflow', 'client'],
    [400, openai('prompt is too long: 250000 tokens > 200000 maximum'), 'context_overflow', 'client'],
    [400, openai('filtered', 'content_filter'), 'content_filter', 'client'],
    [400, openai('refused', 'content_policy_violation'), 'content_filter', 'client'],
    [400, '{"error":"Incorrect API key provided: sk-test"}', 'authentication', 'upstream'],
    [401, openai('who?', 'invalid_api_key'), 'authentication', 'upstream'],
    [402, '{"error":{"message":"Insufficient Balance"}}', 'quota', 'upstream'],
    [403, openai('region'), 'permission', 'upstream'],
    [404, openai('no such model', 'model_not_found'), 'not_found', 'client'],
    [408, 'timed out', 'timeout', 'upstream'],
    [413, 'Payload too large', 'too_large', 'client'],
    [413, openai('Request too large for model with 6000 tokens'), 'context_overflow', 'client'],
    [422, '{"detail":[{"loc":["body","messages"],"msg":"Field required"}]}', 'invalid_request', 'client'],
    [429, openai('slow down', 'rate_limit_exceeded'), 'rate_limited', 'upstream'],
    [
      429,
      openai('You exceeded your current quota', 'insufficient_quota', 'insufficient_quota'),
      'quota',
      'upstream',
    ],
    [500, '', 'upstream_unavailable', 'upstream'],
    [502, '<html><head><title>502 Bad Gateway</title></head></html>', 'upstream_unavailable', 'upstream'],
    [504, 'x', 'timeout', 'upstream'],
    [400, openai('no call', 'tool_use_failed'), 'invalid_request', 'client'],
  ];
  for (const [status, body, kind, fault] of cases) {
    test(`${status} ${body.slice(0, 70)}`, () => {
      const error = decodeError(status, noHeaders, body);
      expect([error.kind, error.fault]).toEqual([kind, fault]);
      expect(error.upstream).toEqual({ status, body });
    });
  }
});

describe('the message is found in every common form', () => {
  const cases: readonly [string, string][] = [
    ['{"error":{"message":"a"}}', 'a'],
    ['{"error":"b"}', 'b'],
    ['{"message":"c"}', 'c'],
    ['{"detail":"d"}', 'd'],
    ['{"detail":[{"loc":["body","model"],"msg":"e"}]}', 'body.model: e'],
    ['[{"error":{"message":"f","status":"INVALID_ARGUMENT"}}]', 'f'],
    ['"g"', 'g'],
    ['plain h', 'plain h'],
    ['<html><title>502 i</title></html>', '502 i'],
    ['', 'The upstream returned status 400 without an error message.'],
  ];
  for (const [body, message] of cases) {
    test(body, () => expect(decodeError(400, noHeaders, body).message).toBe(message));
  }
});

describe('how long to wait', () => {
  const wait = (headers: Readonly<Record<string, string>>): number | undefined =>
    decodeError(429, (name) => headers[name] ?? null, '').retryAfterMs;
  test('milliseconds take precedence', () =>
    expect(wait({ 'retry-after-ms': '250', 'retry-after': '9' })).toBe(250));
  test('seconds', () => expect(wait({ 'retry-after': '1.5' })).toBe(1500));
  test('a date counts from the date of the answer', () => {
    const headers = { 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' };
    expect(wait(headers)).toBe(30_000);
  });
  test('a date without the date of the response is ignored', () => {
    expect(wait({ 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT' })).toBeUndefined();
  });
  test('there is no delay without a header', () => expect(wait({})).toBeUndefined());
});

describe('an error inside an answer', () => {
  const kinds: readonly [object, string, ErrorKind | undefined][] = [
    [{ error: { message: 'slow down', code: 429 } }, '', 'rate_limited'],
    [{ error: { message: 'slow down', type: 'rate_limit_error' } }, '', 'rate_limited'],
    [{ error: { message: 'x', code: 'content_filter' } }, '', 'content_filter'],
    [{ error: 'model is loading' }, '', 'upstream_unavailable'],
    [{ object: 'error', message: 'x', code: 400 }, '', 'invalid_request'],
    [{ message: 'x' }, 'error', 'upstream_unavailable'],
    [{ error: null, choices: [] }, '', undefined],
    [{ choices: [] }, '', undefined],
  ];
  for (const [body, event, kind] of kinds) {
    test(`${event} ${JSON.stringify(body)}`, () => {
      expect(decodeInlineError(JSON.parse(JSON.stringify(body)), event)?.kind).toBe(kind);
    });
  }
});
