// A real process on a real disk that is full: with `ledger.when_full: serve` clients are answered and records that find no room
// are in the log; with `refuse` they are told so; and when there is room again, all is as before, without a restart.
import { describe, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, freshFolder, type Program, startProgram } from '../support/program.ts';
import { fillDisk, mayMount, smallDisk } from './small-disk.ts';
import { undoAfterEach } from '../support/undo.ts';

const PATIENCE_MS = 60_000;
const KEY = 'sk-test';
/** Records of this many bytes fill what a journal has reserved soon. */
const METADATA = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`m${n}`, 'x'.repeat(500)]));

const ends = undoAfterEach();

function disk(): string {
  const made = smallDisk();
  if (!made) throw new Error('no disk could be mounted');
  ends.push(made.remove);
  return made.folder;
}

async function start(dataDir: string, whenFull: 'serve' | 'refuse'): Promise<Program> {
  const { folder, remove } = freshFolder();
  ends.push(remove);
  writeFileSync(
    join(folder, 'dragoman.yaml'),
    JSON.stringify({
      server: { port: 0, overload: { lag_ms: 0 } },
      data_dir: dataDir,
      keys: [{ name: 'test', key: KEY }],
      ledger: { when_full: whenFull },
      logging: { level: 'info' },
    }),
  );
  const program = await startProgram(['serve'], { folder });
  ends.push(() => program.stop());
  return program;
}

async function ask({ origin }: Program): Promise<Response> {
  const body = { model: 'sim/echo', messages: [{ role: 'user', content: 'hi' }], metadata: METADATA };
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.text();
  return response;
}

async function degraded({ origin }: Program): Promise<readonly string[]> {
  const ready = (await (await fetch(`${origin}/readyz`)).json()) as { degraded: readonly string[] };
  return ready.degraded;
}

const isFull = (said: readonly string[]): boolean =>
  said.some((each) => each.includes('the journal or the disk is full'));

/** Asks until the disk has taken all that it can. @returns ids of the answers */
async function fill(folder: string, program: Program): Promise<string[]> {
  fillDisk(folder);
  const ids: string[] = [];
  for (let asked = 0; asked < 2_000 && !isFull(await degraded(program)); asked += 1) {
    const answer = await ask(program);
    if (answer.status !== 200) break;
    ids.push(answer.headers.get('x-request-id') ?? '');
  }
  expect(isFull(await degraded(program))).toBe(true);
  return ids;
}

async function isRecorded({ origin }: Program, id: string): Promise<boolean> {
  const found = await fetch(`${origin}/v1/generation?id=${id}`, {
    headers: { authorization: `Bearer ${KEY}` },
  });
  await found.text();
  return found.status === 200;
}

describe.skipIf(!mayMount)('a full disk', () => {
  test('with when_full: serve, requests are served, and records that do not fit are in the log', async () => {
    const folder = disk();
    const program = await start(folder, 'serve');
    const ids = await fill(folder, program);
    for (let n = 0; n < 5; n += 1) {
      const answer = await ask(program);
      expect(answer.status).toBe(200);
      ids.push(answer.headers.get('x-request-id') ?? '');
    }
    rmSync(join(folder, 'ballast'));
    await eventually('nothing is degraded', async () => (await degraded(program)).length === 0, PATIENCE_MS);
    const last = (await ask(program)).headers.get('x-request-id') ?? '';
    expect(await isRecorded(program, last)).toBe(true);
    const lost: string[] = [];
    for (const id of ids) if (!(await isRecorded(program, id))) lost.push(id);
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.filter((id) => !program.err().includes(id))).toEqual([]);
  });

  test('with when_full: refuse, requests are refused with a time to retry, and no record is lost', async () => {
    const folder = disk();
    const program = await start(folder, 'refuse');
    const ids = await fill(folder, program);
    await eventually('all are refused', async () => (await ask(program)).status === 503);
    const refused = await ask(program);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    rmSync(join(folder, 'ballast'));
    await eventually('all are answered', async () => (await ask(program)).status === 200, PATIENCE_MS);
    const lost: string[] = [];
    for (const id of ids) if (!(await isRecorded(program, id))) lost.push(id);
    // The one by which it was found out: its client had been admitted.
    expect(lost.length).toBeLessThanOrEqual(1);
    expect(lost.filter((id) => !program.err().includes(id))).toEqual([]);
  });
});
