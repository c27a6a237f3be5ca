// Long texts of plain messages reach every upstream as the client wrote them, and what is said of them is the same as where
// they were read.
import { expect, test } from 'bun:test';
import {
  arePlain,
  asObject,
  parseAround,
  type ProtocolName,
  scanJson,
  writeItems,
  writeJson,
} from '../src/canonical/index.ts';
import { fromByteString } from '../src/lib/byte-string.ts';
import { findProtocol } from '../src/protocols/index.ts';
import { fillTarget } from './golden-operations.ts';

const LONG = 'a long text, '.repeat(100);
const MESSAGES = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: `${LONG}\n"é" 漢` },
  { role: 'assistant', content: LONG },
  { role: 'user', content: ' \n'.repeat(200) },
  { role: 'user', content: 'Go on.' },
];

function sent(client: ProtocolName, upstream: ProtocolName, given: unknown) {
  const request = findProtocol(client)?.server?.decodeRequest(given);
  const protocol = findProtocol(upstream);
  if (!request || !protocol) throw new Error(`${client} → ${upstream}`);
  const body = protocol.upstream.encodeRequest(request, fillTarget({}), request.report);
  return { bytes: writeJson(body, true), report: request.report.entries };
}

const UPSTREAMS = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const;

test.each([
  ...UPSTREAMS.map((upstream) => ['openai-chat', upstream, { messages: MESSAGES, max_tokens: 9 }] as const),
  ...UPSTREAMS.map((upstream) => ['openai-responses', upstream, { input: MESSAGES }] as const),
  ...UPSTREAMS.map(
    (upstream) => ['anthropic-messages', upstream, { messages: MESSAGES.slice(1), max_tokens: 9 }] as const,
  ),
])('%s → %s', (client, upstream, members) => {
  // Escaped as no writer of ours would escape it.
  const text = JSON.stringify({ model: 'a/b', ...members }).replaceAll('long', '\\u006cong');
  const { messages: places } = scanJson(text);
  if (!places) throw new Error('the messages are not plain');
  const late = sent(client, upstream, asObject(parseAround(text, places)));
  const early = sent(client, upstream, JSON.parse(text));
  expect(JSON.parse(fromByteString(late.bytes))).toEqual(JSON.parse(fromByteString(early.bytes)));
  expect(late.report).toEqual(early.report);
  expect(late.bytes.split('\\u006cong')).toHaveLength(201);
});

test('what is stored of them is what the client wrote, with ids', () => {
  const text = JSON.stringify({ input: MESSAGES }).replaceAll('long', '\\u006cong');
  const { messages: places } = scanJson(text);
  if (!places) throw new Error('the messages are not plain');
  const codec = findProtocol('openai-responses')?.server?.items;
  const stored = (given: unknown): string => {
    let count = 0;
    return writeItems(codec?.identify(asObject(given)['input'], (prefix) => `${prefix}${count++}`) ?? []);
  };
  const late = stored(parseAround(text, places));
  expect(JSON.parse(late)).toEqual(JSON.parse(stored(JSON.parse(text))));
  expect(JSON.parse(late)[1]).toEqual({ ...MESSAGES[1], type: 'message', id: 'msg_1' });
  expect(late.split('\\u006cong')).toHaveLength(201);
});

test.each([
  ['messages', 'input'],
  ['input', 'messages'],
])('of %s and %s in one body the first may be late', (first, second) => {
  const body = { [first]: MESSAGES, model: 'a/b', [second]: MESSAGES };
  const text = JSON.stringify(body);
  const { messages: places } = scanJson(text);
  const read = asObject(places && parseAround(text, places));
  expect([arePlain(read[first]), arePlain(read[second])]).toEqual([true, false]);
  expect(structuredClone(read)).toEqual(body);
});
