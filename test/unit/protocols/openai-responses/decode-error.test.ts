// Error answers in the forms that servers of this protocol use, and the kind each one becomes.
import { describe, expect, test } from 'bun:test';
import {
  decodeError,
  decodeFailure,
} from '../../../../src/protocols/openai-responses/answers/decode-error.ts';

const none = () => null;
const openai = (code: string | null, message = 'No.', type = 'invalid_request_error') =>
  JSON.stringify({ error: { message, type, param: null, code } });

describe('decodeError', () => {
  const cases: readonly (readonly [
    name: string,
    status: number,
    body: string,
    kind: string,
    fault: string,
  ])[] = [
    ['a plain 400', 400, openai(null), 'invalid_request', 'client'],
    [
      'a 422 of a validating framework',
      422,
      '{"detail":[{"loc":["body","input"],"msg":"field required"}]}',
      'invalid_request',
      'client',
    ],
    ['a prompt that is too long', 400, openai('context_length_exceeded'), 'context_overflow', 'client'],
    [
      'a prompt that is too long, in words only',
      400,
      '{"error":"This model\'s maximum context length is 10 tokens"}',
      'context_overflow',
      'client',
    ],
    ['an unsupported parameter', 400, openai('unsupported_parameter'), 'unsupported', 'client'],
    ['a flagged prompt', 400, openai('invalid_prompt'), 'content_filter', 'client'],
    ['a flagged topic', 400, openai('bio_policy'), 'content_filter', 'client'],
    ['a refused key', 401, openai('invalid_api_key'), 'authentication', 'upstream'],
    ['an account without credit', 402, '', 'quota', 'upstream'],
    ['a forbidden model', 403, openai(null), 'permission', 'upstream'],
    ['an unknown model', 404, openai('model_not_found'), 'not_found', 'client'],
    ['an unknown model with another status', 400, openai('model_not_found'), 'not_found', 'client'],
    ['a timeout', 408, '', 'timeout', 'upstream'],
    ['a conflict', 409, '', 'conflict', 'client'],
    ['a body that is too large', 413, '', 'too_large', 'client'],
    ['a rate limit', 429, openai('rate_limit_exceeded'), 'rate_limited', 'upstream'],
    [
      'a used-up quota under 429',
      429,
      openai('insufficient_quota', 'No credit.', 'insufficient_quota'),
      'quota',
      'upstream',
    ],
    ['a server error', 500, openai(null, 'Oops.', 'server_error'), 'upstream_unavailable', 'upstream'],
    ['a proxy that waited too long', 504, '', 'timeout', 'upstream'],
    ['a page of a proxy', 503, '<html>', 'upstream_unavailable', 'upstream'],
    ['an inherited name as code', 400, openai('constructor'), 'invalid_request', 'client'],
  ];
  for (const [name, status, body, kind, fault] of cases) {
    test(name, () => {
      const error = decodeError(status, none, body);
      expect([error.kind, error.fault]).toEqual([kind as typeof error.kind, fault as typeof error.fault]);
      expect(error.upstream).toEqual({ status, body });
    });
  }

  test('message, code and param are read from every form', () => {
    const facts = (body: string) => {
      const { message, code, param } = decodeError(400, none, body);
      return [message, code, param];
    };
    expect(facts('{"error":{"message":"a","code":"b","param":"c"}}')).toEqual(['a', 'b', 'c']);
    expect(facts('{"code":"b","error":"a"}')).toEqual(['a', 'b', undefined]);
    expect(facts('{"detail":"a"}')).toEqual(['a', undefined, undefined]);
    expect(facts('{"detail":{"message":"a","code":"b"}}')).toEqual(['a', 'b', undefined]);
    expect(facts('{"detail":[{"loc":["body","input",0],"msg":"a"}]}')).toEqual(['a', undefined, 'input.0']);
    expect(facts('{"message":"a"}')).toEqual(['a', undefined, undefined]);
    expect(facts('[{"error":{"message":"a"}}]')).toEqual(['a', undefined, undefined]);
    expect(facts('"a"')).toEqual(['a', undefined, undefined]);
    expect(facts('')).toEqual([
      'The upstream returned status 400 without an error message.',
      undefined,
      undefined,
    ]);
  });

  test("the operator's key never shows", () => {
    expect(
      decodeError(401, none, openai('invalid_api_key', 'Incorrect API key provided: sk-test.')).message,
    ).not.toContain('sk-test');
  });

  test('reads the time to wait', () => {
    const wait = (headers: Record<string, string>) =>
      decodeError(429, (name) => headers[name] ?? null, '').retryAfterMs;
    expect(wait({ 'retry-after-ms': '1500', 'retry-after': '9' })).toBe(1500);
    expect(wait({ 'retry-after': '2.5' })).toBe(2500);
    expect(
      wait({ date: 'Sat, 21 Nov 2026 10:00:00 GMT', 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT' }),
    ).toBe(30_000);
    expect(wait({ 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT' })).toBeUndefined();
    expect(wait({ 'retry-after': 'soon' })).toBeUndefined();
    expect(wait({})).toBeUndefined();
  });
});

describe('decodeFailure', () => {
  const kind = (code: string) => decodeFailure({ code, message: 'No.' }).kind;

  test('maps codes of failed responses to kinds', () => {
    expect(kind('rate_limit_exceeded')).toBe('rate_limited');
    expect(kind('server_error')).toBe('upstream_unavailable');
    expect(kind('vector_store_timeout')).toBe('upstream_unavailable');
    expect(kind('context_length_exceeded')).toBe('context_overflow');
    expect(kind('misalignment_policy_violation')).toBe('content_filter');
    expect(kind('failed_to_download_image')).toBe('invalid_request');
    expect(kind('image_content_policy_violation')).toBe('content_filter');
    expect(kind('something_new')).toBe('upstream_unavailable');
  });

  test('maps a failure without a reason to an unavailable upstream', () => {
    expect(decodeFailure(null).kind).toBe('upstream_unavailable');
  });
});
