import { expect, test } from 'bun:test';
import { fromByteString } from '../lib/byte-string.ts';
import { lateMember, readText, setText } from './late-text.ts';
import { writeJson } from './write-json.ts';

const long = 'Said "at length";\n'.repeat(20);
/** As no writer of ours would write it. */
const written = JSON.stringify(long).replaceAll('length', '\\u006cength');

function holding(name: string, text: string): Record<string, string> {
  const object = { first: 'é' };
  setText(object, name, readText(text));
  return object as Record<string, string>;
}

test('a late text is an ordinary member', () => {
  const object = holding('text', written);
  expect(lateMember(object)?.text.written).toBe(written);
  expect(structuredClone(object)).toEqual({ first: 'é', text: long });
  expect(Object.assign({}, object)).toEqual({ first: 'é', text: long });
  object['text'] = 'another';
  expect(lateMember(object)).toBeUndefined();
  expect(JSON.stringify(object)).toBe('{"first":"é","text":"another"}');
  expect(lateMember(holding('text', '"short \\n"'))).toBeUndefined();
});

test('a late text stands in a body as the client wrote it, unless it was replaced', () => {
  const replaced = holding('text', written);
  replaced['text'] = 'another';
  const copied = { ...holding('text', written) };
  const body = {
    model: 'm',
    absent: undefined,
    messages: [{ parts: [holding('text', written)] }, holding('content', written), replaced, copied],
    näme: [null, true, 1.5, {}, [], '漢 😀', { deep: [{ deeper: [{ a: [1, undefined] }] }] }],
  };
  const bytes = writeJson(body as never, true);
  expect(JSON.parse(fromByteString(bytes))).toEqual(JSON.parse(JSON.stringify(body)));
  expect(bytes.split(written)).toHaveLength(3);
  expect(writeJson(body as never, false)).toBe(Buffer.from(JSON.stringify(body)).toString('latin1'));
});

test('letters beyond ASCII become bytes wherever they stand', () => {
  const text = JSON.stringify(`${long} é 漢 😀`);
  const bytes = writeJson({ content: holding('text', text) }, true);
  expect(JSON.parse(fromByteString(bytes))).toEqual({ content: { first: 'é', text: JSON.parse(text) } });
});

test('numbers, and names that came before, are written as the runtime writes them', () => {
  const values = {
    '"quoted"': -0,
    漢: 1e21,
    n: 5e-324,
    x: 0.1 + 0.2,
    big: Number.MAX_SAFE_INTEGER,
    nan: Number.NaN,
  };
  const body = { ...values, of: [Infinity, ...Object.values(values)], ['long'.repeat(50)]: 1 };
  const expected = Buffer.from(JSON.stringify(body)).toString('latin1');
  expect([writeJson(body, true), writeJson(body, true)]).toEqual([expected, expected]);
});
