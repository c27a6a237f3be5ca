// The classification of Anthropic's errors: types, statuses without a type, messages and waiting times.
import { expect, test } from 'bun:test';
import {
  decodeError,
  decodeErrorFrame,
} from '../../../../src/protocols/anthropic-messages/answers/decode-error.ts';

const none = () => null;

function classify(status: number, type: string | undefined, message: string): string {
  const body =
    type === undefined
      ? message
      : JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_1' });
  const error = decodeError(status, none, body);
  expect(error.upstream).toEqual({ status, body, requestId: type && 'req_1' });
  return `${error.kind} ${error.fault}`;
}

test.each([
  [400, 'invalid_request_error', 'max_tokens: must be positive', 'invalid_request client'],
  [
    400,
    'invalid_request_error',
    'prompt is too long: 3333404 tokens > 200000 maximum',
    'context_overflow client',
  ],
  [
    400,
    'invalid_request_error',
    'input length and `max_tokens` exceed context limit: 199000 + 21333 > 200000',
    'context_overflow client',
  ],
  [
    400,
    'invalid_request_error',
    'Your credit balance is too low to access the Anthropic API.',
    'quota upstream',
  ],
  [400, 'invalid_request_error', 'Output blocked by content filtering policy', 'content_filter client'],
  [401, 'authentication_error', 'invalid x-api-key', 'authentication upstream'],
  [402, 'billing_error', 'pay', 'quota upstream'],
  [403, 'permission_error', 'no', 'permission upstream'],
  [404, 'not_found_error', 'model: claude-0', 'not_found client'],
  [413, 'request_too_large', 'Request exceeds the maximum size', 'too_large client'],
  [429, 'rate_limit_error', 'slow down', 'rate_limited upstream'],
  [500, 'api_error', 'Internal server error', 'upstream_unavailable upstream'],
  [504, 'timeout_error', 'timed out', 'timeout upstream'],
  [529, 'overloaded_error', 'Overloaded', 'upstream_unavailable upstream'],
  [429, undefined, 'slow down', 'rate_limited upstream'],
  [503, undefined, '<html>bad gateway</html>', 'upstream_unavailable upstream'],
  [408, undefined, '', 'timeout upstream'],
  [422, undefined, '{"detail":"x"}', 'invalid_request client'],
  [400, 'constructor', 'x', 'invalid_request client'],
])('the error %i %s %s has its kind and fault', (status, type, message, expected) => {
  expect(classify(status, type, message)).toBe(expected);
});

test('the delay is read from the milliseconds, the seconds, or the date', () => {
  const wait = (headers: Record<string, string>) =>
    decodeError(429, (name) => headers[name] ?? null, '').retryAfterMs;
  expect(wait({ 'retry-after-ms': '1500', 'retry-after': '9' })).toBe(1500);
  expect(wait({ 'retry-after': '2' })).toBe(2000);
  expect(
    wait({ 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT', date: 'Sat, 21 Nov 2026 10:00:00 GMT' }),
  ).toBe(30_000);
  expect(wait({ 'retry-after': 'soon' })).toBeUndefined();
  expect(wait({})).toBeUndefined();
});

test('an error frame carries the status that goes with its type', () => {
  const frame = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  const error = decodeErrorFrame(frame, JSON.stringify(frame));
  expect([error.kind, error.message, error.upstream?.status]).toEqual([
    'upstream_unavailable',
    'Overloaded',
    529,
  ]);
});
