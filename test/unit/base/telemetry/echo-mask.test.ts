import { describe, expect, test } from 'bun:test';
import { EchoFilter, EchoMask, secretsOfHeaders } from '../../../../src/base/telemetry/echo-mask.ts';
import { createRedactor } from '../../../../src/base/telemetry/redact.ts';

const KEY = 'kK+upstream/0123456789=';

function through(pieces: readonly string[], ...secrets: readonly string[]): string {
  const mask = EchoMask.of(secrets);
  if (!mask) throw new Error('nothing to mask');
  const filter = new EchoFilter(mask);
  const safe = pieces.map((piece) => filter.push(Buffer.from(piece)));
  return Buffer.concat([...safe, filter.end()]).toString();
}

describe('a credential in an answer is masked', () => {
  test.each([
    ['as it is', KEY],
    ['as PHP writes it', KEY.replace('/', '\\/')],
    ['as .NET writes it', KEY.replace('+', '\\u002B')],
    ['as Gson writes it', KEY.replace('=', '\\u003d')],
  ])('%s, in pieces of any size', (_, written) => {
    const text = `{"a":"k ${written} kK+up","b":"${written}${written}"}`;
    const expected = '{"a":"k [secret] kK+up","b":"[secret][secret]"}';
    expect(through([...text], KEY)).toBe(expected);
    for (let at = 0; at <= text.length; at++)
      expect(through([text.slice(0, at), text.slice(at)], KEY)).toBe(expected);
  });

  test('the longer one of two with the same beginning', () => {
    expect(through([`${KEY}-more`], KEY, `${KEY}-more`)).toBe('[secret]');
  });
});

test('text that only begins like a credential stays, also at the end', () => {
  for (let length = 0; length < KEY.length; length++) {
    const text = `said ${KEY.slice(0, length)}`;
    expect(through([...text], KEY)).toBe(text);
  }
});

test('events are not kept back', () => {
  const mask = EchoMask.of([KEY]);
  const event = Buffer.from('data: k\n\n');
  expect(mask && new EchoFilter(mask).push(event)).toBe(event);
});

test('placeholders and empty values are no credentials', () => {
  expect(EchoMask.of(['not-needed', 'lm-studio', 'sk-test', ''])).toBeNull();
  expect(EchoMask.of(['sk-short', 'letmein99'])?.apply('sk-short letmein99')).toBe('[secret] [secret]');
  const headers = {
    authorization: `Bearer ${KEY}`,
    'x-amz-security-token': 'token',
    'x-goog-user-project': 'a-project-of-somebody',
    'user-agent': 'an agent with a long name',
  };
  expect(secretsOfHeaders(headers)).toEqual([KEY, 'token']);
});

test('texts of failures are also searched for escaped keys, and others keep their bytes', () => {
  const redact = createRedactor([KEY]);
  const hidden = [...KEY].map((each) => `\\u00${each.charCodeAt(0).toString(16)}`).join('');
  expect(redact(`{"message":"\\"${hidden}\\" and \\u00e9"}`)).toBe(
    '{"message":"\\"[secret]\\" and \\u00e9"}',
  );
  const innocent = '{"a":"\\u0041\\/b\\\\u0041"}';
  expect(redact(innocent)).toBe(innocent);
  // A backslash that is escaped escapes nothing.
  expect(redact('{"a":"C:\\\\\\u0073k-0123456789abcdef"}')).toBe('{"a":"C:\\\\[secret]"}');
});
