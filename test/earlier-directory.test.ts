// Data directories that an earlier program left behind: they open without a command, and everything in them is still its
// owner's. `earlier-directory/` holds what programs of that time wrote, each file compressed, with a last record that
// was in the journal alone.
import { afterEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import before from './earlier-directory/before-projects.json' with { type: 'json' };
import { startGateway, type TestGateway } from './harness.ts';
import { ManualClock } from './manual-clock.ts';

const made: string[] = [];
afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true });
});

/** Opens a copy of the directory at the time at which it was written. @param has which of its files are there */
async function opened(has: (file: string) => boolean): Promise<TestGateway> {
  const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-earlier-'));
  made.push(dataDir);
  for (const [file, compressed] of Object.entries(before.files)) {
    if (!has(file)) continue;
    mkdirSync(dirname(join(dataDir, file)), { recursive: true });
    writeFileSync(join(dataDir, file), gunzipSync(Buffer.from(compressed, 'base64')), { mode: 0o600 });
  }
  return startGateway({ keys: [] }, { dataDir, clock: new ManualClock(before.madeAt) });
}

async function statusOf(gateway: TestGateway, key: string, path: string, body?: unknown): Promise<number> {
  const response = await fetch(`${gateway.baseURL}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  return response.status;
}

const { key, other, ids } = before;
const PATHS = [
  `/responses/${ids.response}`,
  `/conversations/${ids.conversation}`,
  `/prompts/${ids.prompt}`,
  `/generation?id=${ids.record}`,
];
const REST = [`/files/${ids.file}/content`, `/generation?id=${ids.inJournal}`];
const ASKED = { model: 'sim/echo' };
const TURNS = [
  { ...ASKED, input: 'and now?', previous_response_id: ids.response },
  { ...ASKED, input: [ids.summary, { role: 'user', content: 'and now?' }] },
];

test('a key of before finds all that it had, and nobody else does', async () => {
  const gateway = await opened(() => true);
  try {
    expect(gateway.firstKey).toBeNull();
    for (const path of [...PATHS, ...REST]) {
      expect([path, await statusOf(gateway, key, path)]).toEqual([path, 200]);
      expect([path, await statusOf(gateway, other, path)]).toEqual([path, 404]);
    }
    for (const turn of TURNS) {
      expect(await statusOf(gateway, key, '/responses', turn)).toBe(200);
      expect([400, 404]).toContain(await statusOf(gateway, other, '/responses', turn));
    }
    const record = await fetch(`${gateway.baseURL}/generation?id=${ids.inJournal}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(await record.json()).toMatchObject({
      key_id: 'key_00000000000000aa',
      project_id: 'key_00000000000000aa',
      end_user: null,
    });
  } finally {
    await gateway.close();
  }
});

test('a backup of before opens: the database and its secret alone', async () => {
  const gateway = await opened((file) => file === 'dragoman.db' || file === 'secret.key');
  try {
    for (const path of PATHS) expect([path, await statusOf(gateway, key, path)]).toEqual([path, 200]);
    for (const turn of TURNS) expect(await statusOf(gateway, key, '/responses', turn)).toBe(200);
  } finally {
    await gateway.close();
  }
});
