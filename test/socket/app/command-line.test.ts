// The command line as a person meets it: help, versions, typing errors, completion, pipes that close, a fresh install, and a
// configuration with several faults.
import { afterAll, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS } from '../../../src/app/cli/command-list.ts';
import { helpOf, overview } from '../../../src/app/cli/help.ts';
import { COMMON_OPTIONS } from '../../../src/app/cli/options.ts';
import { freshFolder, launchOf, runProgram } from '../../support/program.ts';

const { folder, remove } = freshFolder();
afterAll(remove);

const run = (...words: string[]): ReturnType<typeof runProgram> => runProgram(words, { folder });
const { version } = JSON.parse(
  readFileSync(join(import.meta.dir, '..', '..', '..', 'package.json'), 'utf8'),
) as {
  version: string;
};

/** A folder for one start of a gateway. */
function emptyFolder(): string {
  const path = join(folder, `empty-${Bun.randomUUIDv7()}`);
  mkdirSync(path);
  return path;
}

/** Output of a shell. */
function shell(name: string, script: string): string {
  return spawnSync(name, ['-c', script], { cwd: folder, encoding: 'utf8' }).stdout;
}

test('--version prints the version', async () => {
  for (const word of ['--version', '-V', 'version'])
    expect(await run(word)).toMatchObject({ code: 0, out: `dragoman ${version}\n`, err: '' });
});

describe('help', () => {
  test('of all commands has a line for each', () => {
    for (const { usage, summary } of COMMANDS)
      expect(overview()).toMatch(lineOf(`dragoman ${usage}`, summary));
  });

  test('of one command has a line for each of its actions and options', () => {
    for (const command of COMMANDS) {
      const text = helpOf(command);
      for (const [name, what] of Object.entries(command.actions ?? {}))
        expect(text).toMatch(lineOf(name, what));
      for (const [name, { text: what }] of Object.entries({ ...command.options, ...COMMON_OPTIONS }))
        expect(text).toMatch(new RegExp(`^  --(?:\\[no-\\])?${name}\\b.*  ${escaped(what)}`, 'm'));
      for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(120);
    }
  });

  test('is printed, and the command is not run', async () => {
    for (const words of [
      ['keys', '--help'],
      ['help', 'keys'],
      ['keys', 'create', 'x', '-h'],
    ])
      expect(await run(...words)).toMatchObject({
        code: 0,
        out: expect.stringContaining('--budget RULE'),
        err: '',
      });
    expect((await run('--help')).out).toBe(overview());
  });

  const lineOf = (name: string, text: string): RegExp =>
    new RegExp(`^  ${escaped(name)} +${escaped(text)}$`, 'm');
  const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
});

test('a mistyped command gets a suggestion that works in this shell', async () => {
  const near = async (...words: string[]): Promise<string> => {
    const { code, err } = await run(...words);
    expect(code).toBeGreaterThan(0);
    return err;
  };
  expect(await near('usge')).toMatch(/unknown command "usge".*Did you mean `(npx --no )?dragoman usage`\?/);
  expect(await near('keys', 'lst')).toContain('did you mean "keys list"?');
  expect(await near('keys', 'list', '--projct', 'x')).toContain('Did you mean --project?');
  // The hint has no npx where the shell knows the name.
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'dragoman'), '');
  const PATH = `${bin}:${process.env['PATH'] ?? ''}`;
  expect((await runProgram(['usge'], { folder, environment: { PATH } })).err).toContain('`dragoman usage`');
});

test('an argument that a command does not accept is refused, not ignored', async () => {
  for (const words of [
    ['usage', 'today'],
    ['check', 'other.yaml'],
    ['limits', 'shop'],
    ['console', 'x'],
    ['keys', 'create', 'my', 'key'],
    ['keys', 'list', 'extra'],
    ['projects', 'list', 'extra'],
    ['jobs', 'list', 'extra'],
    ['models', 'sim/', 'chat'],
    ['sim', '4011'],
  ])
    expect(await run(...words)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining(`unexpected argument "${words.at(-1)}"`),
    });
});

describe('completion', () => {
  test('completes commands, actions and options in bash', async () => {
    const { out } = await run('completion', 'bash');
    writeFileSync(join(folder, 'completion.bash'), out);
    const completed = (...words: string[]): string[] =>
      shell(
        'bash',
        `source completion.bash; COMP_WORDS=(dragoman ${words.join(' ')}); COMP_CWORD=${words.length}; _dragoman; echo "\${COMPREPLY[@]}"`,
      )
        .trim()
        .split(' ');
    expect(completed('us')).toEqual(['usage']);
    expect(completed('keys', 'ro')).toEqual(['rotate']);
    expect(completed('usage', '--si')).toEqual(['--since']);
    expect(completed('completion', 'f')).toEqual(['fish']);
  });

  test('exists for the other shells', async () => {
    const fish = await run('completion', 'fish');
    expect(fish.out).toContain(
      "complete -c dragoman -f -n __fish_use_subcommand -a usage -d 'report requests, tokens and costs",
    );
    expect(fish.out).toContain("-n '__fish_seen_subcommand_from keys' -a rotate");
    expect((await run('completion', 'zsh')).out).toContain('complete -F _dragoman dragoman');
    expect(await run('completion', 'tcsh')).toMatchObject({
      code: 1,
      err: expect.stringContaining('bash, zsh, fish'),
    });
  });
});

test('a reader that leaves ends a command in silence', async () => {
  const models = Array.from(
    { length: 3000 },
    (_, at) => `  - { id: "a/${'x'.repeat(40)}${at}", endpoints: [{ provider: sim, model: chat }] }`,
  );
  writeFileSync(join(folder, 'many.yaml'), `models:\n${models.join('\n')}\n`);
  const launcher = (await launchOf()).command.join(' ');
  expect(
    shell(
      'bash',
      `${launcher} models --config many.yaml 2>errors | head -1; echo "\${PIPESTATUS[*]}"; cat errors`,
    ),
  ).toMatch(/^ID .*\n0 0\n$/);
});

test('doctor explains on a fresh installation what to do', async () => {
  const { code, err } = await run('doctor');
  expect(code).toBe(0);
  expect(err).toContain('No provider is enabled except the simulated one');
  expect(err).toMatch(/OPENAI_API_KEY=sk-\.\.\. (npx --no )?dragoman doctor/);
});

test('serve refuses an address of the counter server that can never be reached', async () => {
  for (const address of ['http://127.0.0.1:6379', 'redis://', 'redis://127.0.0.1/shop']) {
    const environment = { REDIS_URL: address, DRAGOMAN_PORT: '0' };
    const { code, err } = await runProgram(['serve'], { folder: emptyFolder(), environment });
    expect([address, code, err]).toEqual([
      address,
      2,
      expect.stringContaining('redis_url: must be redis://HOST:PORT'),
    ]);
  }
});

describe('a configuration with several faults', () => {
  const faults = async (text: string): Promise<readonly string[]> => {
    writeFileSync(join(folder, 'bad.yaml'), text);
    const { code, err } = await run('check', '--config', 'bad.yaml');
    expect(code).toBe(2);
    return err.trim().split('\n');
  };

  test('shows all of them, each with its file and line', async () => {
    expect(
      await faults(`server:
  port: 99999
  bogus: 1
providers:
  openai:
    api_key: \${NOT_SET_ANYWHERE}
models:
  - id: x/z
    contxt: 5
`),
    ).toEqual([
      expect.stringContaining('bad.yaml:6: providers.openai.api_key: the environment variable'),
      expect.stringContaining('bad.yaml:2: server.port: '),
      expect.stringContaining('bad.yaml:3: server.bogus: unknown key'),
      expect.stringContaining('bad.yaml:9: models[0].contxt: unknown key'),
    ]);
  });

  test('reports all of them, including syntax errors and those beyond the schema', async () => {
    expect(
      await faults(`keys:
  - { name: a, key: sk-test, project: nowhere }
  - { name: b, key: sk-test }
`),
    ).toEqual([
      expect.stringContaining('bad.yaml:3: keys[1].key: '),
      expect.stringContaining('bad.yaml:2: keys[0].project'),
    ]);
    expect(
      await faults(`models:
  - id: x/y
    endpoints: [{ provider: nobody, model: a }]
  - id: x/z
    endpoints: [{ provider: nothing, model: a }]
`),
    ).toEqual([
      expect.stringContaining('bad.yaml:3: models[0].endpoints[0].provider: "nobody"'),
      expect.stringContaining('bad.yaml:5: models[1].endpoints[0].provider: "nothing"'),
    ]);
    mkdirSync(join(folder, 'templates'), { recursive: true });
    writeFileSync(join(folder, 'templates', 'one.yaml'), 'templat: {}\n');
    writeFileSync(join(folder, 'templates', 'two.yaml'), 'template: 5\n');
    expect(
      await faults(`providers:
  openai: { preset: opena }
  mine:
    api_key: none
    protocols: { openai-chat: {}, anthropic-messages: {} }
models:
  - id: x/y
    endpoints:
      - { provider: nobody, model: a }
      - { provider: nothing, model: a }
      - { provider: mine, model: a }
  - { id: x/y, endpoints: [{ provider: sim, model: chat }] }
aliases:
  a: b
  b: a
  c: sim/nothing-like-it
  d: mine/whatever
  e: x/y
routing:
  default: { only: [elsewhere], order: [sim], fallback: [mine/x, nowhere/y] }
prompts: ${join(folder, 'templates')}
`),
    ).toEqual([
      expect.stringContaining('bad.yaml:2: providers.openai.preset: "opena" is not a preset'),
      expect.stringContaining('bad.yaml:5: providers.mine.protocols.openai-chat: requires a base URL'),
      expect.stringContaining('bad.yaml:5: providers.mine.protocols.anthropic-messages: requires a base URL'),
      expect.stringContaining('bad.yaml:9: models[0].endpoints[0].provider: "nobody"'),
      expect.stringContaining('bad.yaml:10: models[0].endpoints[1].provider: "nothing"'),
      expect.stringContaining('bad.yaml:12: models[1].id: "x/y" is a duplicate id'),
      expect.stringContaining('bad.yaml:14: aliases.a: is circular'),
      expect.stringContaining('bad.yaml:15: aliases.b: is circular'),
      expect.stringContaining('bad.yaml:16: aliases.c: '),
      expect.stringContaining('bad.yaml:20: routing.default.only: "elsewhere"'),
      expect.stringContaining('bad.yaml:20: routing.default.fallback: "nowhere/y"'),
      expect.stringContaining('one.yaml: unknown key templat'),
      expect.stringContaining('two.yaml: template: must contain keys and values'),
    ]);
    expect(await faults('a: [1\nb: }\n')).toEqual([
      expect.stringMatching(/bad\.yaml:2: column 1: /),
      expect.stringMatching(/bad\.yaml:2: column 4: /),
    ]);
  });
});
