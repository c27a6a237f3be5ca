import { expect, test } from 'bun:test';
import {
  arePlain,
  asObject,
  parseAround,
  placeOfPlain,
  scanJson,
  type JsonObject,
} from '../../canonical/index.ts';
import { editMembers } from '../json-splice.ts';
import { decodeRequest } from './decode-request.ts';

const long = 'a long text, '.repeat(100);
const messages = [
  { role: 'system', content: 'Be "brief".' },
  { role: 'developer', content: 'Say\\nso.' },
  { role: 'user', content: `${long}\n\u0000 é 漢 😀` },
  { role: 'assistant', content: long },
  { role: 'user', content: '\\' },
];

function read(body: object): JsonObject {
  const text = JSON.stringify(body);
  const { messages: places } = scanJson(text);
  return asObject(places ? parseAround(text, places) : JSON.parse(text));
}

test('messages that are read late become the same request', () => {
  const body = { model: 'a/b', messages, max_tokens: 5 };
  const late = read(body);
  expect(arePlain(late['messages'])).toBe(true);
  const { report, ...request } = decodeRequest(late);
  const { report: expectedReport, ...expected } = decodeRequest(JSON.parse(JSON.stringify(body)));
  expect(structuredClone(request)).toEqual(structuredClone(expected));
  expect(report.entries).toEqual(expectedReport.entries);
});

test('edits pass over them, in the text that they come from', () => {
  const ascii = messages.map(({ role, content }) => ({
    role,
    content: content.replace(/[^\x00-\x7f]/g, ''),
  }));
  const body = { model: 'a/b', messages: ascii, max_tokens: 5, user: '[' };
  const text = JSON.stringify(body);
  const known = placeOfPlain(read(body)['messages'], text);
  expect(text.slice(known?.from, known?.to)).toBe(JSON.stringify(ascii));
  const edits = { set: { model: 'b', added: 1 }, remove: ['max_tokens'] };
  expect(editMembers(text, { ...edits, known })).toBe(editMembers(text, edits));
  expect(placeOfPlain(read(body)['messages'], `${text} `)).toBeUndefined();
  // As a byte string it is longer than as a text.
  const bytes = Buffer.from(JSON.stringify({ messages })).toString('latin1');
  expect(placeOfPlain(read({ messages })['messages'], bytes)).toBeUndefined();
});

test.each([
  ['another role', { role: 'tool', content: 'x' }],
  ['another member', { role: 'user', content: 'x', name: 'y' }],
  ['the other order', { content: 'x', role: 'user' }],
  ['parts', { role: 'user', content: [{ type: 'text', text: 'x' }] }],
  ['an empty text', { role: 'assistant', content: '' }],
  ['no object', 'x'],
])('one message with %s, and all are parsed at once', (_, message) => {
  const body = { model: 'a/b', messages: [...messages, message, ...messages] };
  const { messages: found } = read(body);
  expect(arePlain(found)).toBe(false);
  expect(found).toEqual(body.messages);
});
