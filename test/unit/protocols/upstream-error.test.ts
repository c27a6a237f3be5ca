import { expect, test } from 'bun:test';
import {
  faultOfKind,
  kindOfStatus,
  retryAfterMs,
  shortMessage,
  upstreamFailure,
} from '../../../src/protocols/errors/upstream-error.ts';

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
] as const)('%j requests a delay of %p ms', (headers: Readonly<Record<string, string>>, expected) => {
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

test.each([
  ['It failed. (Please include the request ID 5c6f-90ab in your message.)', 'It failed.'],
  ['It failed (request id: 20261101abc). Try again', 'It failed. Try again'],
  ['It failed, request_id=req_0011. Try again', 'It failed Try again'],
  ['Request ID: req_00112233', 'Request ID: req_00112233'],
  ['the request id is missing', 'the request id is missing'],
  ['a request id: unknown', 'a request id: unknown'],
])('%j is reported as %j', (said, reported) => {
  expect(shortMessage(said)).toBe(reported);
});

test.each([
  [{ 'x-request-id': 'req_1', 'request-id': 'req_2' }, '', 'req_1'],
  [{ 'x-amzn-requestid': 'a-b' }, '{"request_id":"other"}', 'a-b'],
  [{}, '{"type":"error","request_id":"req_3"}', 'req_3'],
  [{ 'x-request-id': 'two words' }, '{"request_id":5}', undefined],
] as const)('%j with %j is request %p', (headers: Readonly<Record<string, string>>, body, id) => {
  expect(upstreamFailure(500, body, (name) => headers[name] ?? null).requestId).toBe(id);
});
