// The documentation is true: its links lead somewhere, and its marked examples run against a gateway and print what
// the page says.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildSnapshot, loadConfig } from '../../src/app/config/index.ts';
import { presets } from '../../src/catalog/providers/index.ts';
import { folderReadmes, markdownPages, ROOT, snippets, type Snippet } from '../support/doc-snippets.ts';
import { startGateway, type TestGateway } from '../support/harness.ts';

/** The address that the pages use. */
const DOCUMENTED = 'http://127.0.0.1:4000';

let gateway: TestGateway;
let folder: string;

beforeAll(async () => {
  // Lines of batches would wait for a machine that is busy with other tests.
  gateway = await startGateway({ aliases: { fast: 'sim/chat' }, batches: { max_delay_ms: 0 } });
  folder = mkdtempSync(join(tmpdir(), 'dragoman-docs-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true, force: true });
});

const PYTHON = process.env['DRAGOMAN_PYTHON'];
/** The example that goes through npm's own `npx`, which takes longer than what it starts; the others start it directly. */
const THROUGH_NPX = 'docs/install.md';

/** A folder with an `npx` that only knows this package. */
function directNpx(): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const launcher = join(ROOT, 'bin', 'dragoman.mjs');
  writeFileSync(
    join(bin, 'npx'),
    `#!/bin/sh\n[ "$1 $2" = "--no dragoman" ] && shift 2 && exec node ${launcher} "$@"\n`,
    {
      mode: 0o755,
    },
  );
  return bin;
}

/** Writes an example into the folder, with the address of this gateway. @returns its path */
function fileFor(code: string, name: string): string {
  const path = join(folder, name);
  writeFileSync(path, code.replaceAll(DOCUMENTED, gateway.origin));
  return path;
}

function commandFor({ language, code }: Snippet): string[] {
  switch (language) {
    case 'sh':
      return ['bash', '-euo', 'pipefail', '-c', code.replaceAll(DOCUMENTED, gateway.origin)];
    case 'ts':
      return [process.execPath, 'run', fileFor(code, 'snippet.ts')];
    case 'python':
      return [PYTHON ?? '', fileFor(code, 'snippet.py')];
    default:
      throw new Error(`do not know how to run ${language}`);
  }
}

interface Output {
  readonly out: string;
  readonly err: string;
  readonly exitCode: number;
}

/** Runs a command to its end, with the environment that the pages describe. */
async function outputOf(command: string[], place: string): Promise<Output> {
  const { PATH = '', HOME = '' } = process.env;
  const run = Bun.spawn(command, {
    cwd: ROOT,
    env: {
      PATH: place.startsWith(THROUGH_NPX) ? PATH : `${directNpx()}:${PATH}`,
      HOME,
      DRAGOMAN_KEY: gateway.key,
      DRAGOMAN_DATA_DIR: gateway.dataDir,
      NO_COLOR: '1',
    },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err, exitCode] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
    run.exited,
  ]);
  return { out, err, exitCode };
}

const found = snippets();
/** True for an example that goes on when its last statement has run: it needs a process of its own. */
const isServer = ({ code }: Snippet): boolean => code.includes('createServer(');
const programs = found.filter((snippet) => snippet.language === 'ts' && !isServer(snippet));
/** Separates the outputs of examples: ASCII's record separator, which no page prints. */
const BETWEEN = '\u001e';
let outputs: Promise<ReadonlyMap<string, Output>> | undefined;

/**
 * Runs the examples in TypeScript, one after another in one process: to load the client libraries takes longer than the
 * examples. @returns the output of each, by its place
 */
async function runPrograms(): Promise<ReadonlyMap<string, Output>> {
  const steps = programs.map(({ code }, index) => {
    const file = JSON.stringify(fileFor(code, `snippet-${index}.ts`));
    const ended = `await import(${file}).then(() => 0, (error) => (console.log(error), 1))`;
    return `process.stdout.write(\`${BETWEEN}\${${ended}}${BETWEEN}\`);`;
  });
  const all = fileFor(steps.join('\n'), 'snippets.ts');
  const { out, err } = await outputOf([process.execPath, 'run', all], '');
  const pieces = out.split(BETWEEN);
  return new Map(
    programs.map(({ place }, index) => [
      place,
      { out: pieces[2 * index] ?? '', err, exitCode: Number(pieces[2 * index + 1] ?? NaN) },
    ]),
  );
}

async function resultOf(snippet: Snippet): Promise<Output> {
  if (!programs.includes(snippet)) return outputOf(commandFor(snippet), snippet.place);
  outputs ??= runPrograms();
  return (await outputs).get(snippet.place) ?? { out: '', err: 'it was not run', exitCode: NaN };
}

for (const snippet of found) {
  const { place, language, code, prints } = snippet;
  if (language === 'yaml') {
    test(`the configuration at ${place} is valid`, () => {
      const variables = [...code.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => [name, 'sk-test']);
      const environment = Object.fromEntries(variables) as Record<string, string>;
      const { config } = loadConfig({ environment, flags: { config: place }, readFile: () => code });
      expect(
        buildSnapshot({ config, presets, sim: null, environment, revision: 1 }).catalog.list(),
      ).not.toBeEmpty();
    });
    continue;
  }
  // Needs an interpreter with the `openai` package: .ci/run makes one.
  test.skipIf(language === 'python' && PYTHON === undefined)(`the example at ${place} works`, async () => {
    const { out, err, exitCode } = await resultOf(snippet);
    expect(exitCode === 0 ? '' : out + err).toBe('');
    if (prints === undefined) expect(out).not.toContain('"error":{');
    else expect(out.replaceAll('\r', '').trimEnd()).toBe(prints.trimEnd());
  });
}

test('one example goes through npx', () => {
  const through = found.filter(({ place }) => place.startsWith(THROUGH_NPX));
  expect(through.some(({ code }) => code.includes('npx --no dragoman'))).toBe(true);
});

test('there are examples in every language that is documented', () => {
  expect(new Set(found.map((snippet) => snippet.language))).toEqual(new Set(['sh', 'ts', 'python', 'yaml']));
});

/** As GitHub makes anchors of headings. */
function anchorsOf(markdown: string): Set<string> {
  const headings = markdown.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test.each([...markdownPages(), ...folderReadmes()])('the links of %s lead somewhere', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8').replace(/^```[\s\S]*?^```$/gm, '');
  const broken: string[] = [];
  for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
    if (!existsSync(file)) broken.push(target);
    else if (anchor !== undefined && !anchorsOf(readFileSync(file, 'utf8')).has(anchor)) broken.push(target);
  }
  expect(broken).toEqual([]);
});

test('every page is in the index', () => {
  const index = readFileSync(join(ROOT, 'docs', 'README.md'), 'utf8');
  const pages = markdownPages().filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
  expect(pages.filter((page) => !index.includes(`(${page.slice('docs/'.length)})`))).toEqual([]);
});
