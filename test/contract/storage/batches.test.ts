// Batches through their port, in every database: added with their jobs, lines that end once, fences, ends and purges.
import { expect, test } from 'bun:test';
import {
  type Batch,
  type BatchEnd,
  type EndedLine,
  KEPT_FAILURES,
  type NewBatch,
} from '../../../src/accounts/ports/index.ts';
import { describeDatabases, type StateStorage } from './databases.ts';
import { rejection } from '../../support/rejection.ts';

const MINUTE = 60_000;
const JOB = { kind: 'batch', priority: 2, lane: null, home: null, payload: '{}' };
const SPEND = { inputTokens: 3, cachedTokens: 1, outputTokens: 2, reasoningTokens: 0, usd: 0.5, unpriced: 0 };
const FAILURE = { name: 'a', status: 500, code: 'upstream_unavailable', message: 'It is down.' };
const END: BatchEnd = {
  outcome: 'completed',
  outputFile: 'file-out',
  errorFile: null,
  problems: null,
  rest: { kind: 'failed', lines: 0 },
};

function batch(id: string, over: Partial<NewBatch> = {}): NewBatch {
  const own = { id, projectId: 'search', keyId: 'key_1', protocol: 'openai-chat', inputFile: `file-${id}` };
  return { ...own, facts: '{"a":1}', windowMs: 60 * MINUTE, expiresAt: null, ...over };
}

function line(number: number, kind: EndedLine['kind'] = 'succeeded'): EndedLine {
  const failure = kind === 'failed' ? { ...FAILURE, generation: `gen_${number}` } : null;
  return { number, kind, result: Buffer.from(`result ${number}`), spend: SPEND, failure };
}

/** Adds a batch with its input file. */
async function add({ batches, files }: StateStorage, added: NewBatch, maxOpen: number): Promise<Batch> {
  const { inputFile: id, projectId } = added;
  const named = { id, projectId, name: null, sha256: null, filename: 'in.jsonl', mediaType: 'text/plain' };
  await files.put({ ...named, createdAt: 1, expiresAt: null, purpose: 'batch', bytes: 1 });
  return batches.add(added, JOB, maxOpen);
}

describeDatabases((fresh) => {
  async function withStorage(run: (storage: StateStorage) => Promise<void>): Promise<void> {
    await using storage = await (await fresh())();
    await run(storage);
  }

  /** Claims the first job, or all. @returns the fence of the first one, or of this batch */
  async function held({ jobs }: StateStorage, owner = 'one', wanted?: string): Promise<number> {
    const options = {
      owner,
      leaseMs: MINUTE,
      limit: wanted === undefined ? 1 : 9,
      kinds: ['batch'],
      perProject: 9,
      priority: 9,
      running: [],
      takesOver: true,
    };
    const claimed = await jobs.claim(options);
    return claimed.find(({ id }) => wanted === undefined || id === wanted)?.fence ?? 0;
  }

  test('a batch is added with its job, found by its project, and listed', () =>
    withStorage(async (storage) => {
      const { batches, jobs } = storage;
      const added = await add(storage, batch('b1'), 3);
      expect(added).toMatchObject({ id: 'b1', total: null, outcome: null, waits: null, facts: '{"a":1}' });
      expect(added.deadlineAt - added.createdAt).toBe(60 * MINUTE);
      expect(await jobs.get('b1')).toMatchObject({ kind: 'batch', state: 'queued' });
      await add(storage, batch('b2'), 3);
      await add(storage, batch('b3', { protocol: 'gemini' }), 3);
      const refused = await rejection(add(storage, batch('b4'), 3));
      expect(refused).toMatchObject({ code: 'too_many_jobs' });
      expect(await batches.get('b4')).toBeNull();
      expect(await batches.find('other', 'b1')).toBeNull();
      const page = await batches.list('search', 'openai-chat', { limit: 1, order: 'desc' });
      expect([page.batches.map(({ id }) => id), page.hasMore]).toEqual([['b2'], true]);
      const next = await batches.list('search', 'openai-chat', { limit: 9, order: 'desc', after: 'b2' });
      expect(next.batches.map(({ id }) => id)).toEqual(['b1']);
    }));

  test('the input file of a batch is not deleted before the batch ends, nor a batch added without it', () =>
    withStorage(async (storage) => {
      const { batches, files } = storage;
      const both = await Promise.allSettled([add(storage, batch('b1'), 3), add(storage, batch('b2'), 3)]);
      expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
      expect(await rejection(files.delete('search', 'file-b1'))).toMatchObject({ kind: 'conflict' });
      expect(await files.delete('other', 'file-b1')).toBe(false);
      // Either of the two is the first.
      const fence = await held(storage, 'one', 'b1');
      expect(await batches.end('b1', fence, END)).toBe(true);
      expect(await files.delete('search', 'file-b1')).toBe(true);
      const gone = batches.add(batch('b3', { inputFile: 'file-b1' }), JOB, 9);
      expect(await rejection(gone)).toMatchObject({ kind: 'not_found' });
      const strange = batches.add(batch('b4', { projectId: 'other', inputFile: 'file-b2' }), JOB, 9);
      expect(await rejection(strange)).toMatchObject({ kind: 'not_found' });
      expect(await batches.get('b3')).toBeNull();
      // A deletion and a batch at the same time exclude each other.
      for (let round = 0; round < 20; round += 1) {
        const id = `c${round}`;
        await add(storage, batch(`first-${id}`, { inputFile: `file-${id}` }), 99);
        await batches.delete('search', `first-${id}`);
        const [added, deleted] = await Promise.allSettled([
          batches.add(batch(id), JOB, 99),
          files.delete('search', `file-${id}`),
        ]);
        expect(added.status).not.toBe(deleted.status);
      }
    }));

  test('a line ends once, counts once, and an older fence changes nothing', () =>
    withStorage(async (storage) => {
      const { batches } = storage;
      await add(storage, batch('b1'), 3);
      const fence = await held(storage);
      expect(await batches.begin('b1', fence, 4, null)).toBe(true);
      expect(
        await batches.ask('b1', fence, [
          { number: 1, detail: 'x' },
          { number: 2, detail: 'y' },
        ]),
      ).toBe(true);
      expect(await batches.ask('b1', fence, [{ number: 2, detail: 'z' }])).toBe(true);
      expect(await batches.endLines('b1', fence, [line(1), line(3, 'failed')])).toBe(true);
      expect(await batches.endLines('b1', fence, [line(1, 'failed')])).toBe(true);
      expect(await batches.endLines('b1', fence - 1, [line(4)])).toBe(false);
      expect(await batches.asked('b1')).toEqual([{ number: 2, detail: 'z' }]);
      expect(await batches.endedNumbers('b1', 0, 9)).toEqual([1, 3]);
      const [, second] = await batches.ended('b1', 0, 9);
      expect(second).toMatchObject({ number: 3, kind: 'failed' });
      expect(Buffer.from(second?.result ?? []).toString()).toBe('result 3');
      const found = await batches.get('b1');
      expect(found).toMatchObject({ total: 4, counts: { succeeded: 1, failed: 1 } });
      expect(found?.spend).toEqual({ ...SPEND, inputTokens: 6, cachedTokens: 2, outputTokens: 4, usd: 1 });
    }));

  test('operators find batches of all projects by status, and lines that failed as long as the batch', () =>
    withStorage(async (storage) => {
      const { batches } = storage;
      await add(storage, batch('b1', { expiresAt: 1_000 }), 3);
      const fence = await held(storage);
      await add(storage, batch('b2', { projectId: 'other', protocol: 'anthropic-messages' }), 3);
      await batches.begin('b1', fence, 3_000, null);
      const idsOf = async (query: object): Promise<string[]> =>
        (await batches.search({ limit: 9, ...query })).batches.map(({ id }) => id);
      expect(await idsOf({})).toEqual(['b2', 'b1']);
      expect(await idsOf({ project: 'other' })).toEqual(['b2']);
      expect(await idsOf({ protocol: 'openai-chat' })).toEqual(['b1']);
      expect(await idsOf({ after: 'b2' })).toEqual(['b1']);
      expect(await idsOf({ statuses: ['validating'] })).toEqual(['b2']);
      expect(await idsOf({ statuses: ['in_progress', 'completed'] })).toEqual(['b1']);
      expect(await batches.search({ limit: 1 })).toMatchObject({ hasMore: true });
      expect(await rejection(batches.search({ limit: 1, after: 'b9' }))).toMatchObject({ param: 'after' });
      const counts = await batches.counts();
      expect(counts.toSorted((a, b) => a.status.localeCompare(b.status))).toEqual([
        { status: 'in_progress', batches: 1 },
        { status: 'validating', batches: 1 },
      ]);

      await batches.endLines('b1', fence, [line(2, 'failed'), line(3), line(7, 'failed')]);
      await batches.endLines('b1', fence, [line(2, 'failed')]);
      expect(await batches.failures('b1', 0, 1)).toEqual([{ ...FAILURE, number: 2, generation: 'gen_2' }]);
      expect((await batches.failures('b1', 2, 9)).map(({ number }) => number)).toEqual([7]);
      const many = Array.from({ length: KEPT_FAILURES + 5 }, (_, at) => line(10 + at, 'failed'));
      for (let at = 0; at < many.length; at += 500)
        await batches.endLines('b1', fence, many.slice(at, at + 500));
      expect(await batches.failures('b1', 0, 3_000)).toHaveLength(KEPT_FAILURES);
      expect((await batches.get('b1'))?.counts.failed).toBe(KEPT_FAILURES + 7);
      await batches.finalize('b1', fence);
      await batches.end('b1', fence, END);
      while ((await batches.purge(500)) > 0);
      expect(await batches.failures('b1', 0, 3_000)).toHaveLength(KEPT_FAILURES);
      while ((await batches.purge(2_000)) > 0);
      expect(await batches.failures('b1', 0, 9)).toEqual([]);
    }));

  test('a batch ends once, and its lines are forgotten later', () =>
    withStorage(async (storage) => {
      const { batches } = storage;
      await add(storage, batch('b1', { expiresAt: 1_000 }), 3);
      const fence = await held(storage);
      await batches.endLines('b1', fence, [line(1)]);
      expect(await batches.finalize('b1', fence)).toBe(true);
      expect(await batches.end('b1', fence - 1, END)).toBe(false);
      const end: BatchEnd = { ...END, outcome: 'expired', rest: { kind: 'expired', lines: 2 } };
      expect(await batches.end('b1', fence, end)).toBe(true);
      const ended = await batches.get('b1');
      expect(ended).toMatchObject({ outcome: 'expired', outputFile: 'file-out', counts: { expired: 2 } });
      expect(await storage.files.delete('search', 'file-b1')).toBe(true);
      while ((await batches.purge(500)) > 0);
      expect(await batches.endedNumbers('b1', 0, 9)).toEqual([]);
      expect(await batches.get('b1')).not.toBeNull();
      while ((await batches.purge(2_000)) > 0);
      expect(await batches.get('b1')).toBeNull();
      expect(await storage.jobs.get('b1')).toBeNull();
    }));

  test('a batch that is cancelled is given to a runner at once, and deleted with its job', () =>
    withStorage(async (storage) => {
      const { batches, jobs } = storage;
      await add(storage, batch('b1'), 3);
      const fence = await held(storage);
      await jobs.wait('b1', fence, { reason: 'No room.', forMs: MINUTE, hasBegun: false });
      expect((await batches.get('b1'))?.waits).toMatchObject({ reason: 'No room.' });
      expect(await batches.cancel('other', 'b1')).toBeNull();
      expect((await batches.cancel('search', 'b1'))?.cancelAt).toBeNumber();
      expect(await held(storage, 'two')).toBe(fence + 1);
      expect(await jobs.get('b1')).toMatchObject({ isCancelRequested: true });
      expect(await batches.delete('other', 'b1')).toBe(false);
      expect(await batches.delete('search', 'b1')).toBe(true);
      expect(await batches.get('b1')).toBeNull();
      expect(await jobs.get('b1')).toBeNull();
    }));
});
