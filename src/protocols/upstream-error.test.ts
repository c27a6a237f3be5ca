import { expect, test } from 'bun:test';
import { faultOfKind, kindOfStatus, retryAfterMs, shortMessage } from './upstream-error.ts';

test.each([
  [{}, undefined],
  [{ 'retry-after': '2' }, 2000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
  [{ 'retry-after-ms': '', 'retry-after': '9' }, 9000],
  [{ 'retry-after': '-1' }, undefined],
  [{ 'retry-after': 'Infinity' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:10 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' }, 10_000],
  [{ 'retry-after': 'Wed, 21 Oct 2026 07:27:00 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' }, 0],
  [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:10 GMT' }, undefined],
] as const)('%j asks to wait %p ms', (headers: Readonly<Record<string, string>>, expected) => {
  expect(retryAfterMs((name) => headers[name] ?? null)).toBe(expected);
});

test('a message that repeats a prompt is cut', () => {
  expect(shortMessage('no')).toBe('no');
  expect(shortMessage('x'.repeat(5000))).toHaveLength(2001);
});

test.each([
  [400, 'invalid_request', 'client'],
  [401, 'authentication', 'upstream'],
  [402, 'quota', 'upstream'],
  [403, 'permission', 'upstream'],
  [404, 'not_found', 'client'],
  [408, 'timeout', 'upstream'],
  [409, 'conflict', 'client'],
  [410, 'not_found', 'client'],
  [413, 'too_large', 'client'],
  [418, 'upstream_unavailable', 'upstream'],
  [422, 'invalid_request', 'client'],
  [429, 'rate_limited', 'upstream'],
  [500, 'upstream_unavailable', 'upstream'],
  [504, 'timeout', 'upstream'],
  [524, 'timeout', 'upstream'],
] as const)('status %p alone is %s, the fault of the %s', (status, kind, fault) => {
  expect(kindOfStatus(status)).toBe(kind);
  expect(faultOfKind(kind)).toBe(fault);
});
