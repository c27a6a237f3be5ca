import { expect, test } from 'bun:test';
import { fromByteString } from '../lib/byte-string.ts';
import { scanJson } from './json-scan.ts';
import { asArray, asObject } from './json.ts';
import { parseAround } from './plain-messages.ts';
import { writeJson } from './write-json.ts';

const long = 'Said "at length";\n'.repeat(20);
const other = long.replaceAll('S', 'M');

/** The messages of a body as a client writes it, whose letters may be escaped. */
function messagesOf(...texts: string[]) {
  const written = texts.map((text) => `{"role":"user","content":${JSON.stringify(text)}}`).join(',');
  const text = `{"messages":[${written.replaceAll('length', '\\u006cength')}],"more":"${'x'.repeat(1024)}"}`;
  const { messages } = scanJson(text);
  if (!messages) throw new Error('the messages are not plain');
  return asArray(asObject(parseAround(text, messages))['messages']);
}

test('a long text stands in the body as the client wrote it', () => {
  const messages = messagesOf(long, other);
  const contents = messages.map((message) => asObject(message)['content'] ?? null);
  const written = writeJson({ model: 'm', absent: undefined, list: contents, empty: [] }, messages);
  expect(JSON.parse(written)).toEqual({ model: 'm', list: [long, other], empty: [] });
  expect(written.split('\\u006cength')).toHaveLength(41);
});

test('whatever became of the texts, the body says the same', () => {
  const [first, second, third] = [long, other, `${long} and 漢字, é and 😀`];
  const messages = messagesOf(first, second, third, first);
  const contents = messages.map((message) => asObject(message)['content'] ?? null);
  const bodies = [
    { reversed: contents.toReversed(), näme: [null, true, 1.5, {}, 'short', '漢'] },
    { joined: contents.join('\n\n'), twice: [...contents, ...contents] },
    { none: [] },
    { cut: contents.map((text) => String(text).slice(1)), last: contents.at(-1) },
  ];
  for (const body of bodies) expect(JSON.parse(fromByteString(writeJson(body, messages)))).toEqual(body);
  expect(JSON.parse(fromByteString(writeJson({ text: third }, undefined)))).toEqual({ text: third });
});
