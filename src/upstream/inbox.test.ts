import { expect, test } from 'bun:test';
import { nextTurn } from '../runtime/clock.ts';
import { Inbox } from './inbox.ts';

const turn = (): Promise<void> => new Promise(nextTurn);

test('what was put aside in one turn is worked off in its order, at the end of the turn', async () => {
  const inbox = new Inbox();
  const heard: string[] = [];
  for (const name of ['a', 'b', 'c']) inbox.add({ receive: () => heard.push(name) });
  expect(heard).toEqual([]);
  await turn();
  expect(heard).toEqual(['a', 'b', 'c']);
});

test('it is quiet while one answer is awaited', () => {
  const inbox = new Inbox();
  inbox.await();
  expect(inbox.isQuiet).toBe(true);
  inbox.await();
  expect(inbox.isQuiet).toBe(false);
  inbox.begun();
  expect(inbox.isQuiet).toBe(true);
});
