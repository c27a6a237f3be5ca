// Marks of requests that went out: another process reads what a killed one has left.
import { afterEach, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { SentMarks } from '../../../src/storage/running/sent-marks.ts';
import { freshFolder } from '../../support/program.ts';

/** Marks of one file. */
const PLACES = 8192;

let remove = (): void => {};
afterEach(() => remove());

function folderOf(): string {
  const made = freshFolder();
  remove = made.remove;
  return made.folder;
}

test('a request that was sent is distinguished from one that was about to be sent', () => {
  const folder = folderOf();
  const killed = new SentMarks(folder);
  const [sent, unsent] = [killed.open(), killed.open()];
  sent?.sent();
  const next = new SentMarks(folder);
  expect(next.stateOf(sent?.id ?? '')).toBe('sent');
  expect(next.stateOf(unsent?.id ?? '')).toBe('unsent');
});

test('a mark that was closed unsent is distinguished from later ones', () => {
  const marks = new SentMarks(folderOf());
  const waiting = marks.open();
  waiting?.close();
  marks.open()?.sent();
  expect(marks.stateOf(waiting?.id ?? '')).toBe('unsent');
});

test('a mark is unknown if another one has its position, and belongs to another process if its file is missing', () => {
  const folder = folderOf();
  const marks = new SentMarks(folder);
  const first = marks.open();
  first?.sent();
  first?.close();
  expect(marks.stateOf(first?.id ?? '')).toBe('sent');
  for (let others = 1; others <= PLACES; others += 1) {
    const other = marks.open();
    other?.sent();
    other?.close();
  }
  expect(marks.stateOf(first?.id ?? '')).toBe('unknown');
  expect(marks.stateOf('0123456789abcdef:1:1')).toBe('elsewhere');
  expect(marks.stateOf('../../etc/passwd:1:1')).toBe('unknown');
});

test('a process whose requests have ended leaves no marks', () => {
  const folder = folderOf();
  const [ended, interrupted] = [new SentMarks(folder), new SentMarks(folder)];
  ended.open()?.close();
  interrupted.open();
  ended.close();
  interrupted.close();
  expect(readdirSync(folder)).toHaveLength(1);
  expect(ended.open()).toBe(null);
});
