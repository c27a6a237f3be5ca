// The workflows of a change and of a release: right by actionlint, and every command of this repository that they run exists.
import { expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const ROOT = join(import.meta.dir, '../..');
const FOLDER = join(ROOT, '.github', 'workflows');
const ACTIONLINT = process.env['DRAGOMAN_ACTIONLINT'] ?? Bun.which('actionlint');

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly steps: readonly { readonly run?: string; readonly uses?: string }[];
        readonly needs?: string;
      }
    >
  >;
}

const workflows = readdirSync(FOLDER).map((name) => ({
  name,
  workflow: parse(readFileSync(join(FOLDER, name), 'utf8')) as Workflow,
}));

const title = ACTIONLINT === null ? ' (skipped: actionlint is not installed)' : '';
test.skipIf(ACTIONLINT === null)(`actionlint finds nothing wrong with the workflows${title}`, () => {
  const paths = readdirSync(FOLDER).map((name) => join(FOLDER, name));
  const { stdout, exitCode } = Bun.spawnSync([ACTIONLINT ?? '', '-no-color', ...paths], { cwd: ROOT });
  expect([exitCode, stdout.toString()]).toEqual([0, '']);
});

test.each(workflows)(
  '$name runs only existing commands, and has write permission only where declared',
  ({ workflow }) => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    for (const { steps } of Object.values(workflow.jobs))
      for (const { run = '' } of steps) {
        for (const [, name = ''] of run.matchAll(/npm run ([\w:-]+)/g)) expect(scripts).toHaveProperty(name);
        if (run.startsWith('.ci/')) expect(statSync(join(ROOT, run)).mode & 0o111).not.toBe(0);
      }
  },
);

test('a release is tested before anything of it is published, and SECURITY.md verifies each artefact', () => {
  const release = workflows.find(({ name }) => name === 'release.yaml')?.workflow;
  const { test: tested, ...others } = release?.jobs ?? {};
  expect(tested?.steps.at(-1)?.run).toBe('.ci/run');
  for (const { needs } of Object.values(others)) expect(needs).toBe('test');
  const page = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');
  for (const command of [
    'sha256sum',
    'gh attestation verify',
    'cosign verify-blob',
    'cosign verify ',
    'npm audit',
  ])
    expect(page).toContain(command);
  expect(existsSync(join(ROOT, 'deploy', 'Dockerfile'))).toBe(true);
});
