// Contract of every store of answers under idempotency keys, in memory and on a real server whose clock the test moves.
import { afterAll, describe, expect, test } from 'bun:test';
import {
  type AnswerStore,
  type AnswerRead,
  FAILED_MS,
  READER_MS,
  LEASE_MS,
  MemoryAnswerStore,
  type AnswerUpdate,
} from '../../../src/cluster/exchange/index.ts';
import { ValkeyAnswerStore, ValkeyServer } from '../../../src/cluster/valkey/index.ts';
import { scriptOf } from '../../../src/cluster/valkey/server.ts';
import { Channel } from '../../../src/cluster/workers/channel.ts';
import { answerAnswers, SupervisorAnswerStore } from '../../../src/cluster/workers/index.ts';
import { startValkey, VALKEY_PROGRAM, type ValkeyProcess } from '../../support/servers/valkey.ts';

interface Making {
  readonly store: AnswerStore;
  pass(ms: number): Promise<void>;
}

const KEEPS_MS = 60_000;
const said = (changes: Partial<AnswerUpdate> = {}): AnswerUpdate => ({
  name: 'n',
  fingerprint: 'f',
  run: 'r1',
  edition: 0,
  at: 0,
  frames: [],
  state: 'running',
  keepsMs: KEEPS_MS,
  mostChars: 1000,
  ...changes,
});
const asked = (changes: Partial<AnswerRead> = {}): AnswerRead => ({
  name: 'n',
  run: 'r1',
  edition: 0,
  from: 0,
  ...changes,
});
const claimOf = (run: string, name = 'n', fingerprint = 'f') => ({ name, fingerprint, run });

function describeAnswerStore(name: string, make: () => Promise<Making>): void {
  const say = async (store: AnswerStore, changes: Partial<AnswerUpdate> = {}) =>
    (await store.exchange([said(changes)], [])).receipts[0];
  const ask = async (store: AnswerStore, changes: Partial<AnswerRead> = {}) =>
    (await store.exchange([], [asked(changes)])).answers[0];

  describe(name, () => {
    test('one process produces a response, and another reads it live', async () => {
      const { store } = await make();
      expect(await store.claim(claimOf('r1'))).toEqual({ type: 'mine' });
      expect(await say(store)).toBe('unheard');
      expect(await store.claim(claimOf('r2'))).toEqual({ type: 'theirs', run: 'r1' });
      expect(await store.claim(claimOf('r3', 'n', 'other'))).toEqual({ type: 'conflict' });
      expect(await ask(store)).toEqual({ state: 'running', edition: 0, frames: [], count: 0 });
      expect(await say(store, { frames: ['a', 'b'] })).toBe('heard');
      expect(await ask(store)).toMatchObject({ state: 'running', frames: ['a', 'b'], count: 2 });
      expect(await say(store, { at: 2, frames: ['c'], state: 'complete' })).toBe('heard');
      expect(await ask(store, { from: 2 })).toMatchObject({ state: 'complete', frames: ['c'], count: 3 });
      expect(await store.claim(claimOf('r4'))).toEqual({ type: 'theirs', run: 'r1' });
    });

    test('data that is sent twice, because the reply was lost, is stored once', async () => {
      const { store } = await make();
      await store.claim(claimOf('r1'));
      await say(store, { frames: ['a'] });
      await say(store, { frames: ['a', 'b'] });
      await say(store, { at: 1, frames: ['b', 'c'] });
      expect(await ask(store)).toMatchObject({ frames: ['a', 'b', 'c'], count: 3 });
    });

    test('a silent owner loses the response, and the next process produces it again', async () => {
      const { store, pass } = await make();
      await store.claim(claimOf('r1'));
      await say(store, { frames: ['a'] });
      await pass(LEASE_MS - 500);
      await say(store, { at: 1 });
      await pass(LEASE_MS - 500);
      expect(await ask(store)).toMatchObject({ state: 'running', frames: ['a'] });
      await pass(LEASE_MS + 500);
      expect(await ask(store)).toMatchObject({ state: 'gone', frames: [] });
      expect(await store.claim(claimOf('r2'))).toEqual({ type: 'mine' });
      // One that comes back may not tell any more.
      expect(await say(store, { at: 1, frames: ['b'] })).toBe('lost');
      expect(await ask(store, { run: 'r1' })).toMatchObject({ state: 'gone' });
    });

    test('a failed response is visible to its readers, and to no new ones', async () => {
      const { store, pass } = await make();
      await store.claim(claimOf('r1'));
      await say(store, { frames: ['a'], state: 'failed' });
      expect(await store.claim(claimOf('r2', 'n', 'other'))).toEqual({ type: 'mine' });
      expect(await ask(store)).toMatchObject({ state: 'failed', frames: ['a'], count: 1 });
      await pass(FAILED_MS + 500);
      expect(await ask(store)).toMatchObject({ state: 'gone' });
    });

    test('a response that is too large has no other readers while it is produced', async () => {
      const { store, pass } = await make();
      await store.claim(claimOf('r1'));
      await say(store, { state: 'large' });
      expect(await store.claim(claimOf('r2'))).toEqual({ type: 'large' });
      expect(await store.claim(claimOf('r2', 'n', 'other'))).toEqual({ type: 'conflict' });
      await pass(LEASE_MS + 500);
      expect(await store.claim(claimOf('r2'))).toEqual({ type: 'mine' });
    });

    test('readers that stop asking do not count', async () => {
      const { store, pass } = await make();
      await store.claim(claimOf('r1'));
      await store.claim(claimOf('r2'));
      expect(await say(store)).toBe('heard');
      await pass(READER_MS - 500);
      expect(await say(store)).toBe('heard');
      await pass(1000);
      expect(await say(store)).toBe('unheard');
      await ask(store);
      expect(await say(store)).toBe('heard');
    });

    test('a response that is published again is read from the start', async () => {
      const { store } = await make();
      // As after a loss of all data: nothing of the frames of before is known.
      expect(await say(store, { at: 2, frames: ['c'] })).toBe('again');
      expect(await say(store, { edition: 1, frames: ['a', 'b'] })).toBe('unheard');
      expect(await ask(store, { from: 2 })).toMatchObject({ edition: 1, frames: ['a', 'b'], count: 2 });
      expect(await ask(store, { edition: 1, from: 1 })).toMatchObject({ frames: ['b'] });
      expect(await say(store, { edition: 2, frames: ['a'] })).toBe('heard');
      expect(await ask(store, { edition: 1, from: 2 })).toMatchObject({
        edition: 2,
        frames: ['a'],
        count: 1,
      });
    });

    test('complete ones are kept for a while, and the earliest go when there is no room', async () => {
      const { store, pass } = await make();
      for (const one of ['n1', 'n2', 'n3']) {
        await store.claim(claimOf('r', one));
        const frames = ['x'.repeat(200), 'y'.repeat(200)];
        await store.exchange([said({ name: one, run: 'r', frames, state: 'complete' })], []);
        await pass(10);
      }
      const known = async (one: string) => (await store.claim(claimOf('r9', one))).type === 'theirs';
      expect([await known('n2'), await known('n3')]).toEqual([true, true]);
      expect(await ask(store, { name: 'n1', run: 'r' })).toMatchObject({ state: 'gone', frames: [] });
      expect((await ask(store, { name: 'n2', run: 'r' }))?.frames[0]).toBe('x'.repeat(200));
      await pass(KEEPS_MS + 1000);
      expect([await known('n2'), await known('n3')]).toEqual([false, false]);
      // An answer that is gone weighs nothing.
      const frames = ['z'.repeat(900)];
      await store.exchange([said({ name: 'n4', run: 'r', frames, state: 'complete' })], []);
      expect(await ask(store, { name: 'n4', run: 'r' })).toMatchObject({ state: 'complete', count: 1 });
    });
  });
}

describeAnswerStore('a supervisor', async () => {
  let nowMs = 0;
  const here: Channel = new Channel((message) => there.take(structuredClone(message)));
  const there = new Channel((message) => here.take(structuredClone(message)));
  for (const [what, answer] of Object.entries(answerAnswers(new MemoryAnswerStore(() => nowMs))))
    there.answer(what, answer);
  return { store: new SupervisorAnswerStore(here), pass: async (ms) => void (nowMs += ms) };
});

describe.skipIf(VALKEY_PROGRAM === null)('a server of answers', () => {
  let server: Promise<ValkeyProcess> | undefined;
  const links: ValkeyServer[] = [];
  afterAll(async () => {
    for (const link of links) link.close();
    await (await server)?.stop();
  });

  describeAnswerStore('on Valkey or Redis', async () => {
    const { url, send } = await (server ??= startValkey());
    await send('FLUSHALL');
    const link = new ValkeyServer(url, [], () => performance.now());
    links.push(link);
    let late = 0;
    const store = new ValkeyAnswerStore({
      run({ text }, keys, args) {
        const later = `(function() local t = redis.call('TIME'); return { tostring(tonumber(t[1]) + ${Math.floor(late / 1000)}), t[2] } end)()`;
        return link.run(scriptOf(text.replace("redis.call('TIME')", later)), keys, args);
      },
    });
    return {
      store,
      /** Entries that expire by themselves do so earlier. */
      async pass(ms) {
        late += ms;
        const keys = (await send('KEYS', '*')) as string[];
        for (const key of keys) {
          const left = Number(await send('PTTL', key));
          if (left > 0) await send('PEXPIRE', key, String(Math.max(0, left - ms)));
        }
      },
    };
  });
});
