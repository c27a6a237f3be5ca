// The queue of jobs through its port, in every database: order, leases and fences, fairness, waiting, ends and purges.
import { expect, test } from 'bun:test';
import type { HeldJob, JobStore, NewJob } from '../../../src/accounts/ports/index.ts';
import { describeDatabases } from './databases.ts';
import { rejection } from '../../support/rejection.ts';

const MINUTE = 60_000;

function job(id: string, over: Partial<NewJob> = {}): NewJob {
  return {
    id,
    kind: 'response',
    projectId: 'search',
    keyId: 'key_1',
    priority: 1,
    lane: null,
    home: null,
    payload: `{"of":"${id}"}`,
    expiresAt: null,
    ...over,
  };
}

function claim(
  jobs: JobStore,
  over: Partial<Parameters<JobStore['claim']>[0]> = {},
): Promise<readonly HeldJob[]> {
  return jobs.claim({
    owner: 'one',
    leaseMs: MINUTE,
    limit: 100,
    kinds: ['response'],
    perProject: 100,
    priority: 9,
    running: [],
    takesOver: true,
    ...over,
  });
}

const idsOf = (jobs: readonly { readonly id: string }[]): readonly string[] => jobs.map(({ id }) => id);

describeDatabases((fresh) => {
  async function withJobs(run: (jobs: JobStore, reopened: () => Promise<JobStore>) => Promise<void>) {
    const open = await fresh();
    const opened = [await open()];
    try {
      await run(opened[0]!.jobs, async () => {
        const again = await open();
        opened.push(again);
        return again.jobs;
      });
    } finally {
      for (const storage of opened) await storage.close();
    }
  }

  test('a job is added, taken once, and ends once', () =>
    withJobs(async (jobs) => {
      const added = await jobs.add(job('a'), 9);
      expect(added).toMatchObject({ id: 'a', state: 'queued', attempt: 0, waits: null, endedAt: null });
      const [held] = await claim(jobs);
      expect(held).toMatchObject({ id: 'a', state: 'running', attempt: 1, fence: 1, payload: '{"of":"a"}' });
      expect(await claim(jobs)).toEqual([]);
      expect(await jobs.finish('a', 1, { state: 'completed' })).toBe(true);
      expect(await jobs.finish('a', 1, { state: 'failed', error: { code: 'x', message: 'y' } })).toBe(false);
      expect(await jobs.find('search', 'a')).toMatchObject({ state: 'completed', error: null });
      expect(await jobs.find('other', 'a')).toBeNull();
    }));

  test('two processes that take at once never hold the same job', () =>
    withJobs(async (jobs, reopened) => {
      const second = await reopened();
      const ids = Array.from({ length: 40 }, (_, n) => `job-${n}`);
      for (const id of ids) await jobs.add(job(id), 99);
      const taken = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          claim(n % 2 ? jobs : second, { owner: n % 2 ? 'one' : 'two', limit: 3 }),
        ),
      );
      const all = idsOf([...taken.flat(), ...(await claim(jobs))]);
      expect(all.toSorted()).toEqual(ids.toSorted());
    }));

  test('a lease that ran out lets another take over, and an old fence changes nothing', () =>
    withJobs(async (jobs, reopened) => {
      await jobs.add(job('a'), 9);
      const [first] = await claim(jobs, { leaseMs: -1 });
      const other = await reopened();
      const [second] = await claim(other, { owner: 'two' });
      expect(second).toMatchObject({ id: 'a', attempt: 2, fence: 2 });
      expect(await jobs.renew('one', MINUTE, ['a'])).toEqual([]);
      expect(await jobs.step('a', first!.fence, { name: 'received', detail: 'old' })).toBe(false);
      expect(await jobs.wait('a', first!.fence, { reason: 'limit', forMs: 1, hasBegun: false })).toBe(false);
      expect(await jobs.keepStream('a', first!.fence, new Uint8Array([1]))).toBe(false);
      expect(await jobs.finish('a', first!.fence, { state: 'completed' })).toBe(false);
      expect(await other.renew('two', MINUTE, ['a'])).toEqual([
        { id: 'a', fence: 2, isCancelRequested: false },
      ]);
      expect(await other.finish('a', 2, { state: 'completed' })).toBe(true);
    }));

  test('each expired lease counts as a death of the job, and a released lease does not', () =>
    withJobs(async (jobs) => {
      await jobs.add(job('a'), 9);
      expect(await claim(jobs, { leaseMs: -1 })).toMatchObject([{ deaths: 0 }]);
      expect(await claim(jobs, { leaseMs: -1 })).toMatchObject([{ attempt: 2, deaths: 1 }]);
      const [third] = await claim(jobs);
      expect(third).toMatchObject({ attempt: 3, deaths: 2 });
      await jobs.wait('a', third!.fence, { reason: 'it stops', forMs: -1, hasBegun: true });
      expect(await claim(jobs)).toMatchObject([{ attempt: 4, deaths: 2 }]);
      await jobs.release('one');
      const [fifth] = await claim(jobs);
      expect(fifth).toMatchObject({ attempt: 5, deaths: 2 });
      await jobs.finish('a', fifth!.fence, { state: 'failed', error: { code: 'x', message: 'y' } });
      await jobs.retry('a');
      expect(await claim(jobs)).toMatchObject([{ attempt: 6, deaths: 0 }]);
    }));

  test('a job is not taken a second time by the process that runs it, nor woken by one of other kinds', () =>
    withJobs(async (jobs) => {
      await jobs.add(job('a'), 9);
      await claim(jobs, { leaseMs: -1 });
      expect(await claim(jobs, { running: ['a'] })).toEqual([]);
      expect(await claim(jobs, { owner: 'two', kinds: ['webhook'] })).toEqual([]);
      expect(await claim(jobs, { owner: 'two', takesOver: false })).toEqual([]);
      expect((await jobs.get('a'))?.state).toBe('running');
      expect(idsOf(await claim(jobs, { owner: 'two', running: ['a'] }))).toEqual(['a']);
    }));

  test('steps are kept in their latest state', () =>
    withJobs(async (jobs) => {
      await jobs.add(job('a'), 9);
      await claim(jobs);
      expect(await jobs.step('a', 1, { name: 'received', detail: '1' })).toBe(true);
      expect(await jobs.step('a', 1, { name: 'received', detail: '2' })).toBe(true);
      expect(await jobs.steps('a')).toMatchObject([{ name: 'received', detail: '2' }]);
    }));

  test('projects take turns, by their weight, and a lower priority begins first', () =>
    withJobs(async (jobs) => {
      for (let n = 0; n < 4; n += 1) await jobs.add(job(`many-${n}`), 99);
      await jobs.add(job('few-0', { projectId: 'few' }), 99);
      await jobs.add(job('few-1', { projectId: 'few' }), 99);
      await jobs.add(job('first', { priority: 0 }), 99);
      await jobs.add(job('last', { priority: 2 }), 99);
      const ids = idsOf(await claim(jobs, { priority: 1 }));
      expect(ids).toEqual(['first', 'many-0', 'few-0', 'many-1', 'few-1', 'many-2', 'many-3']);
      expect(idsOf(await claim(jobs))).toEqual(['last']);
    }));

  test('a project runs so many at once', () =>
    withJobs(async (jobs) => {
      for (const id of ['a', 'b', 'c']) await jobs.add(job(id), 9);
      await jobs.add(job('d', { projectId: 'other' }), 9);
      expect(idsOf(await claim(jobs, { perProject: 2 }))).toEqual(['a', 'd', 'b']);
      expect(await claim(jobs, { perProject: 2 })).toEqual([]);
      await jobs.finish('a', 1, { state: 'completed' });
      expect(idsOf(await claim(jobs, { perProject: 2 }))).toEqual(['c']);
    }));

  test('jobs of one lane run in their order', () =>
    withJobs(async (jobs) => {
      for (const id of ['a', 'b']) await jobs.add(job(id, { lane: 'conv_1' }), 9);
      expect(idsOf(await claim(jobs))).toEqual(['a']);
      await jobs.wait('a', 1, { reason: 'limit', forMs: -1, hasBegun: false });
      expect(idsOf(await claim(jobs))).toEqual(['a']);
      await jobs.finish('a', 2, { state: 'completed' });
      expect(idsOf(await claim(jobs))).toEqual(['b']);
    }));

  test('jobs that follow another are added with its end, once', () =>
    withJobs(async (jobs) => {
      const following = [job('next', { kind: 'webhook', projectId: 'whk' })];
      await jobs.add(job('a'), 9);
      await jobs.add(job('b'), 9);
      const [held] = await claim(jobs, { limit: 1 });
      expect(await jobs.finish('a', 9, { state: 'completed' }, { following })).toBe(false);
      expect(await jobs.openOf('whk')).toBe(0);
      expect(await jobs.finish(held!.id, held!.fence, { state: 'completed' }, { following })).toBe(true);
      await jobs.addAll(following);
      expect(await jobs.openOf('whk')).toBe(1);
      await jobs.cancel('b', { following: [job('of b', { projectId: 'whk' })] });
      await jobs.cancel('b', { following: [job('never', { projectId: 'whk' })] });
      expect(await jobs.openOf('whk')).toBe(2);
      expect(idsOf(await claim(jobs, { kinds: ['webhook'] }))).toEqual(['next']);
      expect(idsOf(await claim(jobs))).toEqual(['of b']);
    }));

  test('a job that exceeds a limit waits, reports why and since when, and counts no attempt', () =>
    withJobs(async (jobs) => {
      await jobs.add(job('a'), 9);
      await claim(jobs);
      expect(await jobs.wait('a', 1, { reason: 'no room', forMs: MINUTE, hasBegun: false })).toBe(true);
      const waiting = await jobs.find('search', 'a');
      expect(waiting).toMatchObject({ state: 'waiting', attempt: 0, waits: { reason: 'no room' } });
      expect(await claim(jobs)).toEqual([]);
      await jobs.cancel('a');
      await jobs.retry('a');
      await claim(jobs);
      await jobs.wait('a', 2, { reason: 'still none', forMs: -1, hasBegun: false });
      expect(await claim(jobs)).toMatchObject([{ id: 'a', attempt: 1, fence: 3 }]);
    }));

  test('a job that belongs to a process is left to that process', () =>
    withJobs(async (jobs) => {
      await jobs.add(job('a', { home: 'one' }), 9);
      expect(await claim(jobs, { owner: 'two' })).toEqual([]);
      expect(idsOf(await claim(jobs))).toEqual(['a']);
    }));

  test('a job that a process releases is taken by another at once', () =>
    withJobs(async (jobs) => {
      await jobs.add(job('a', { home: 'one' }), 9);
      await claim(jobs);
      await jobs.release('one');
      expect(await claim(jobs, { owner: 'two' })).toMatchObject([{ id: 'a', attempt: 2, fence: 2 }]);
    }));

  test('a job whose claim never reached its owner is taken over, while the lease of others is renewed', () =>
    withJobs(async (jobs) => {
      for (const id of ['a', 'b']) await jobs.add(job(id), 9);
      expect(idsOf(await claim(jobs, { leaseMs: -1 }))).toEqual(['a', 'b']);
      expect(await jobs.renew('one', MINUTE, ['b'])).toMatchObject([{ id: 'b' }]);
      expect(await claim(jobs, { running: ['b'] })).toMatchObject([{ id: 'a', attempt: 2, deaths: 1 }]);
    }));

  test('a job is cancelled at once, or by its runner, and can be tried again', () =>
    withJobs(async (jobs) => {
      for (const id of ['a', 'b']) await jobs.add(job(id), 9);
      expect(idsOf(await claim(jobs, { limit: 1 }))).toEqual(['a']);
      expect(await jobs.cancel('a')).toMatchObject({ state: 'running', isCancelRequested: true });
      expect(await jobs.cancel('b')).toMatchObject({ state: 'cancelled' });
      expect(await jobs.cancel('c')).toBeNull();
      expect(await jobs.renew('one', MINUTE, ['a'])).toEqual([
        { id: 'a', fence: 1, isCancelRequested: true },
      ]);
      await jobs.finish('a', 1, { state: 'failed', error: { code: 'broken', message: 'It broke.' } });
      expect(await jobs.cancel('a')).toMatchObject({ state: 'failed', error: { code: 'broken' } });
      expect(await jobs.retry('a')).toMatchObject({ state: 'queued', error: null, isCancelRequested: false });
      expect(await jobs.retry('a')).toBeNull();
    }));

  test('a project has so many open jobs', () =>
    withJobs(async (jobs) => {
      await jobs.add(job('a'), 1);
      const refused = await rejection(jobs.add(job('b'), 1));
      expect(refused).toMatchObject({ kind: 'rate_limited', code: 'too_many_jobs' });
      await jobs.add(job('c', { projectId: 'other' }), 1);
    }));

  test('finished jobs are kept for a while, and never longer than they ask for', () =>
    withJobs(async (jobs) => {
      for (const id of ['a', 'b']) await jobs.add(job(id, { expiresAt: null }), 9);
      await jobs.add(job('c', { expiresAt: 5 }), 9);
      const keepMs = 60_000;
      for (const { id, fence } of await claim(jobs, { limit: 1 }))
        await jobs.finish(id, fence, { state: 'completed' }, { keepMs });
      await jobs.cancel('b', { keepMs });
      await jobs.cancel('c', { keepMs });
      for (const id of ['a', 'b']) {
        const { endedAt, expiresAt } = (await jobs.get(id)) ?? {};
        expect(expiresAt).toBe(Number(endedAt) + keepMs);
      }
      expect((await jobs.get('c'))?.expiresAt).toBe(5);
    }));

  test('jobs are listed, counted and kept with their streams until they expire', () =>
    withJobs(async (jobs) => {
      await jobs.add(job('a', { expiresAt: 5 }), 9);
      await jobs.add(job('b', { kind: 'batch' }), 9);
      await claim(jobs, { limit: 1 });
      expect(await jobs.keepStream('a', 1, new Uint8Array([1, 2]))).toBe(true);
      await jobs.step('a', 1, { name: 'received', detail: '' });
      expect(await jobs.stream('search', 'a')).toEqual(new Uint8Array([1, 2]));
      expect(await jobs.stream('other', 'a')).toBeNull();
      const all = await jobs.list({ limit: 1 });
      expect(idsOf(all.jobs)).toEqual(['b']);
      expect(all.hasMore).toBe(true);
      expect(idsOf((await jobs.list({ limit: 9, after: 'b' })).jobs)).toEqual(['a']);
      expect(await rejection(jobs.list({ limit: 9, after: 'c' }))).toMatchObject({
        kind: 'invalid_request',
        param: 'after',
      });
      expect(idsOf((await jobs.list({ limit: 9, states: ['running'], kind: 'response' })).jobs)).toEqual([
        'a',
      ]);
      expect(await jobs.counts()).toMatchObject([
        { kind: 'batch', state: 'queued', jobs: 1 },
        { kind: 'response', state: 'running', jobs: 1 },
      ]);
      expect(await jobs.purge(10)).toBe(1);
      expect(await jobs.purge(10)).toBe(0);
      expect(await jobs.steps('a')).toEqual([]);
      expect(await jobs.stream('search', 'a')).toBeNull();
      expect(await jobs.delete('other', 'b')).toBe(false);
      expect(await jobs.delete('search', 'b')).toBe(true);
    }));
});
