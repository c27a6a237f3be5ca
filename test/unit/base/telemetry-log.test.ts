// Log lines and the masking of keys in them.
import { expect, test } from 'bun:test';
import { GatewayError } from '../../../src/canonical/index.ts';
import { createLogger, type LogOptions } from '../../../src/base/telemetry/log.ts';
import { createRedactor } from '../../../src/base/telemetry/redact.ts';
import { Secret } from '../../../src/base/telemetry/secret.ts';
import { usedMs } from '../../../src/base/runtime/machine.ts';

function logTo(lines: string[], options: Partial<LogOptions> = {}) {
  return createLogger({
    level: 'info',
    write: (line) => lines.push(line),
    now: () => 1_700_000_000_000,
    ...options,
  });
}

test('a line is one JSON object, with fixed members first', () => {
  const lines: string[] = [];
  logTo(lines)
    .with({ request: 'gen-1' })
    .info('served', { status: 200, level: 'mine', text: 'two\nlines', big: 5n });
  expect(lines).toEqual([
    '{"time":"2023-11-14T22:13:20.000Z","level":"info","message":"served","request":"gen-1","status":200,"text":"two\\nlines","big":"5"}\n',
  ]);
});

test('lines below the level are not written', () => {
  const lines: string[] = [];
  const log = logTo(lines, { level: 'warn' });
  log.debug('a');
  log.info('b');
  log.warn('c');
  log.error('d');
  expect(lines.map((line) => JSON.parse(line).message)).toEqual(['c', 'd']);
  expect([log.enabled('info'), log.enabled('error')]).toEqual([false, true]);
  logTo(lines, { level: 'silent' }).error('e');
  expect(lines.length).toBe(2);
});

test('people get one short line', () => {
  const lines: string[] = [];
  logTo(lines, { pretty: true }).warn('slow', { ms: 12, path: '/v1', none: undefined });
  expect(lines).toEqual(['22:13:20.000 WARN  slow ms=12 path="/v1"\n']);
});

test('errors are logged with their cause; expected ones without a stack', () => {
  const lines: string[] = [];
  const log = logTo(lines);
  log.error('failed', {
    error: new GatewayError('timeout', 'too slow', { cause: new Error('socket closed') }),
  });
  log.error('failed', { error: new TypeError('no such member') });
  const [expected, defect] = lines.map((line) => JSON.parse(line).error);
  expect(expected).toMatchObject({
    kind: 'timeout',
    message: 'too slow',
    cause: { message: 'socket closed' },
  });
  expect(expected.stack).toBeUndefined();
  expect(defect).toMatchObject({
    name: 'TypeError',
    stack: expect.stringContaining('telemetry-log.test.ts'),
  });
});

test('a value that cannot be serialised does not throw', () => {
  const lines: string[] = [];
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  logTo(lines).info('odd', { circular });
  expect(lines[0]).toContain('not serialisable');
});

test('secrets are masked by type, by value and by shape', () => {
  const lines: string[] = [];
  const redact = createRedactor([new Secret('hunter2-hunter2'), new Secret('short'), 'a "quoted" key']);
  const log = logTo(lines, { redact });
  log.info('upstream said hunter2-hunter2', {
    key: new Secret('hunter2-hunter2'),
    body: { text: 'my a "quoted" key' },
    short: 'shortly',
  });
  const line = JSON.parse(lines[0] ?? '');
  expect(line).toMatchObject({
    message: 'upstream said [secret]',
    key: '[secret]',
    body: { text: 'my [secret]' },
    short: 'shortly',
  });
});

test('texts that look like keys are masked, and ordinary words are not', () => {
  const redact = createRedactor([]);
  const masked: [string, string][] = [
    ['Incorrect API key provided: sk-proj-abc123DEF456ghi789.', 'Incorrect API key provided: [secret].'],
    ['key sk-ant-api03-AAAA_bbbb-CCCC was', 'key [secret] was'],
    ['authorization: Bearer eyJhbGciOi.J9.abc-_~+/=', 'authorization: Bearer [secret]'],
    ['{"x-api-key":"0123456789abcdef"}', '{"x-api-key":"[secret]"}'],
    ['GET /v1beta/models?key=0123456789abcdef&x=1', 'GET /v1beta/models?key=[secret]&x=1'],
    ['gsk_0123456789abcdefXYZ and xai-0123456789abcdefXYZ', '[secret] and [secret]'],
    ['AIzaSyA0123456789012345678901234567890', '[secret]'],
  ];
  for (const [text, expected] of masked) expect(redact(text)).toBe(expected);
  for (const text of [
    'risk-assessment of the task',
    'the bearer of news',
    'ask-me',
    'gpt-5-mini-2025-08-07',
    'sk-test',
  ])
    expect(redact(text)).toBe(text);
});

test('masking a long hostile text takes no noticeable time', () => {
  const redact = createRedactor([]);
  const start = usedMs();
  redact('sk-'.repeat(100_000) + ' bearer '.repeat(50_000) + 'a'.repeat(500_000));
  expect(usedMs() - start).toBeLessThan(1_000);
});
