// The unit for systemd: the walls that docs/install.md promises, and systemd's own opinion where it is installed.
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const UNIT = join(import.meta.dir, '..', '..', 'contrib', 'systemd', 'dragoman.service');
const ANALYZE = Bun.which('systemd-analyze');

test('has the walls that the documentation names', () => {
  const settings = readFileSync(UNIT, 'utf8').split('\n');
  for (const wall of [
    'DynamicUser=yes',
    'NoNewPrivileges=yes',
    'ProtectSystem=strict',
    'ReadWritePaths=/var/lib/dragoman',
    'PrivateTmp=yes',
    'CapabilityBoundingSet=',
    'LimitCORE=0',
    'SystemCallFilter=@system-service',
  ])
    expect(settings).toContain(wall);
  expect(settings.some((line) => /^MemoryMax=\d+G$/.test(line))).toBe(true);
  // It would keep the runtime from starting.
  expect(settings.some((line) => line.startsWith('MemoryDenyWriteExecute'))).toBe(false);
});

const title = ANALYZE ? '' : ' (skipped: systemd-analyze is not installed)';
test.if(ANALYZE !== null)(`systemd rates its exposure as low${title}`, () => {
  const rated = Bun.spawnSync([ANALYZE ?? '', 'security', '--offline=yes', '--threshold=30', UNIT]);
  expect(rated.stdout.toString() + rated.stderr.toString()).toMatch(/exposure level.*: [0-2]\.\d/);
  expect(rated.exitCode).toBe(0);
});
