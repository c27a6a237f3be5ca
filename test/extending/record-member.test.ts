// A member of a record is one line in its table: it is written, read and shown, and records of before have its usual value.
import { expect, test } from 'bun:test';
import { GENERATION_MEMBERS, type Members, shownMembers } from '../../src/accounts/ledger/index.ts';
import { CompactReader } from '../../src/storage/compact/reader.ts';
import { CompactWriter } from '../../src/storage/compact/writer.ts';
import { MembersCodec } from '../../src/storage/ledger/record-codec.ts';
import { generation } from '../support/storage/storage-records.ts';

const LATER = {
  ...GENERATION_MEMBERS,
  // The one line.
  weather: { kind: 'name', usual: 'fine', shown: 'weather' },
} as const;

function written(table: ConstructorParameters<typeof MembersCodec>[0], record: Members): Uint8Array {
  const writer = new CompactWriter();
  new MembersCodec(table).write(writer, record, Number(record['createdAt']));
  return writer.written();
}

function read(table: ConstructorParameters<typeof MembersCodec>[0], bytes: Uint8Array): Members {
  const reader = new CompactReader(bytes);
  const own = new MembersCodec(table).read(reader, 'whole');
  expect(reader.rest()).toHaveLength(0);
  return own;
}

const { id: _id, content: _content, ...before } = generation('gen-1');

test('a new member is written, read and shown', () => {
  const record = { ...before, weather: 'storm' };
  const found = read(LATER, written(LATER, record));
  expect(found).toEqual(record);
  expect(shownMembers(LATER, found)).toMatchObject({ weather: 'storm', requested_model: 'gpt-5' });
});

test('a default value takes one bit', () => {
  const [usual, none] = [written(LATER, { ...before, weather: 'fine' }), written(GENERATION_MEMBERS, before)];
  expect(usual.length - none.length).toBeLessThanOrEqual(1);
});

test('older records have its default value, and older programs skip it', () => {
  expect(read(LATER, written(GENERATION_MEMBERS, before))).toEqual({ ...before, weather: 'fine' });
  expect(read(GENERATION_MEMBERS, written(LATER, { ...before, weather: 'storm' }))).toEqual(before);
});
