// Files in the data directory are their owner's alone, also where they were there before and open.
import { afterEach, expect, test } from 'bun:test';
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeToOthers } from '../../../src/storage/secrets/closed-path.ts';
import { startGateway } from '../../support/harness.ts';

const POSIX = process.platform !== 'win32';
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'dragoman-modes-'));
  folders.push(made);
  return made;
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test.if(POSIX)('loose modes of a data directory are corrected at the start, with a log line', async () => {
  const dataDir = folder();
  const first = await startGateway({}, { dataDir });
  await first.stop();
  expect(first.logLines).toEqual([]);
  const loose = [dataDir, join(dataDir, 'dragoman.db'), join(dataDir, 'secret.key')];
  for (const path of loose) chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o664);

  const second = await startGateway({}, { dataDir });
  await second.stop();
  expect(loose.map(modeOf)).toEqual([0o700, 0o600, 0o600]);
  const reported = second.logLines.filter((line) => line.includes('accessible to other users'));
  expect(reported).toHaveLength(3);
  for (const path of loose)
    expect(reported.some((line) => line.includes(`${path} was accessible`))).toBe(true);
  expect(second.logLines.join('')).toContain('mode 0755');
});

test.if(POSIX)('a directory of another user is refused', () => {
  const path = join(folder(), 'secret.key');
  writeFileSync(path, 'x', { mode: 0o600 });
  // Root's own are trusted by everybody.
  if (statSync(path).uid === 0) chownSync(path, 4321, 4321);
  const owner = statSync(path).uid;
  expect(() => closeToOthers(path, owner + 1)).toThrow(`belongs to another user (uid ${owner})`);
  expect(closeToOthers(path, 0)).toContain(`It belongs to uid ${owner}`);
  expect(closeToOthers(path, owner)).toBeNull();
});

test.if(POSIX)('a shared directory is not closed, but reported', () => {
  const path = folder();
  chmodSync(path, 0o1777);
  expect(closeToOthers(path)).toContain('cannot be changed');
  expect(statSync(path).mode & 0o7777).toBe(0o1777);
});
