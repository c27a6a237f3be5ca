// Marks of requests that went out: another process reads what a killed one has left.
import { afterEach, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { SentMarks } from '../../../src/storage/sent-marks.ts';
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

test('a request that went out is told from one that was about to', () => {
  const folder = folderOf();
  const killed = new SentMarks(folder);
  const [sent, unsent] = [killed.open(), killed.open()];
  sent?.sent();
  const next = new SentMarks(folder);
  expect(next.wasSent(sent?.id ?? '')).toBe(true);
  expect(next.wasSent(unsent?.id ?? '')).toBe(false);
});

test('a mark that was closed unsent is told from those that came after it', () => {
  const marks = new SentMarks(folderOf());
  const waiting = marks.open();
  waiting?.close();
  marks.open()?.sent();
  expect(marks.wasSent(waiting?.id ?? '')).toBe(false);
});

test('a mark whose place another one has, or whose file is gone, is unknown', () => {
  const folder = folderOf();
  const marks = new SentMarks(folder);
  const first = marks.open();
  first?.sent();
  first?.close();
  expect(marks.wasSent(first?.id ?? '')).toBe(true);
  for (let others = 1; others <= PLACES; others += 1) {
    const other = marks.open();
    other?.sent();
    other?.close();
  }
  expect(marks.wasSent(first?.id ?? '')).toBe(null);
  expect(marks.wasSent('0123456789abcdef:1:1')).toBe(null);
  expect(marks.wasSent('../../etc/passwd:1:1')).toBe(null);
});

test('nothing is left behind by a process whose requests have all ended', () => {
  const folder = folderOf();
  const [ended, interrupted] = [new SentMarks(folder), new SentMarks(folder)];
  ended.open()?.close();
  interrupted.open();
  ended.close();
  interrupted.close();
  expect(readdirSync(folder)).toHaveLength(1);
  expect(ended.open()).toBe(null);
});
