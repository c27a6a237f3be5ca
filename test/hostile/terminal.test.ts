// Texts of clients on the way to the operator's terminal and shell.
import { afterAll, expect, test } from 'bun:test';
import { codeFor } from '../../console/playground/copy-as.ts';
import { DIALECTS } from '../../console/playground/dialects/index.ts';
import { startManaged } from '../support/management/scene.ts';
import { freshFolder, runProgram } from '../support/program.ts';
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ESCAPES = '\u001b]0;owned\u0007\u009b2J\u202e';
const { folder, remove } = freshFolder();

const gateway = await startManaged({
  keys: [{ name: `key${ESCAPES}`, key: 'sk-test', limits: [{ requests: 5, per: 'hour' }] }],
  models: [{ id: `up/m${ESCAPES}`, endpoints: [{ provider: 'sim', model: 'echo' }] }],
});
const messages = [{ role: 'user', content: 'a' }];
await (await gateway.post('/chat/completions', { model: `up/m${ESCAPES}`, messages })).text();
afterAll(async () => {
  await gateway.close();
  remove();
});

test.each<readonly string[]>([
  ['usage', '--by', 'model,key'],
  ['usage', '--by', 'model,key', '--json'],
  ['usage', '--by', 'model,key', '--csv'],
  ['limits'],
  ['limits', '--json'],
])('%s %s escapes control sequences of terminals', async (...words) => {
  const place = words[0] === 'limits' ? ['--url', gateway.origin] : [];
  const { code, out, err } = await runProgram([...words, ...place, '--data-dir', gateway.dataDir], {
    folder,
  });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toContain('\\u001b');
  expect(out).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202e]/);
});

test.each<readonly string[]>([
  ['keys', 'list'],
  ['keys', 'list', '--json'],
  ['projects', 'list'],
  ['models'],
  ['check'],
])('%s %s escapes control sequences in names of the configuration', async (...words) => {
  const name = `name${ESCAPES}`;
  const config = join(folder, 'names.yaml');
  writeFileSync(
    config,
    JSON.stringify({
      keys: [{ name, key: 'sk-test-of-a-name' }],
      projects: { [name]: {} },
      models: [{ id: `up/${name}`, endpoints: [{ provider: 'sim', model: 'echo' }] }],
      aliases: { [name]: `up/${name}` },
    }),
  );
  const { out, err } = await runProgram([...words, '--config', config], { folder });
  expect(out + err).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202e]/);
  if (words[0] !== 'check') expect(out + err).toContain('\\u001b');
});

test('a name with control characters is refused', async () => {
  for (const name of [`a${ESCAPES}b`, 'a\u200bb', 'a\nb']) {
    const { status, body } = await gateway.manage('POST', '/keys', { name });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { param: 'name' } });
  }
});

test('a request copied as curl runs no command from a link', () => {
  const mark = join(folder, 'ran');
  const evil = `a'; touch ${mark}; echo '$(touch ${mark})\`touch ${mark}\``;
  for (const dialect of Object.values(DIALECTS)) {
    const code = codeFor('curl', dialect, {
      origin: 'http://127.0.0.1:9',
      model: evil,
      body: { model: evil, [evil]: evil },
    });
    spawnSync('sh', ['-c', `curl() { :; }\n${code}`], { cwd: folder });
    expect(existsSync(mark)).toBe(false);
  }
});
