// The executables of a release: each is for its platform, and that of this machine needs nothing beside it.
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { closeSync, cpSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeExecutables } from '../../contrib/executables.ts';
import { eventually, freshFolder, runProgram, startProgram } from '../support/program.ts';
import { isWhole } from '../support/share.ts';

// Executables are written, and packages installed.
setDefaultTimeout(300_000);
const { folder, remove } = freshFolder();
afterAll(remove);

/** How files of each platform begin, in hexadecimal digits, with dots for what differs. */
const BEGINNINGS: Readonly<Record<string, RegExp>> = {
  // ELF, 64 bits, little-endian; the machine stands at byte 18: x86-64, AArch64.
  'linux-x64': /^7f454c4602.{26}3e00/,
  'linux-arm64': /^7f454c4602.{26}b700/,
  // Mach-O, 64 bits; then the processor.
  'macos-x64': /^cffaedfe07000001/,
  'macos-arm64': /^cffaedfe0c000001/,
  // "MZ" of PE.
  'windows-x64.exe': /^4d5a/,
};
const OWN = process.platform === 'linux' ? `linux-${process.arch}` : null;

const wanted = isWhole ? Object.keys(BEGINNINGS) : OWN === null ? [] : [OWN];
if (!isWhole) console.log('left out without DRAGOMAN_TESTS=all: executables for other platforms');

const written = await writeExecutables(join(folder, 'executables'), wanted);
for (const [name, path] of written)
  if (path === null) console.log(`skipped: ${name}, because its runtime could not be fetched`);

for (const [name, path] of written)
  test.skipIf(path === null)(`${name} is an executable of its platform, with its checksum`, async () => {
    const start = Buffer.alloc(20);
    const file = openSync(path ?? '', 'r');
    readSync(file, start, 0, start.length, 0);
    closeSync(file);
    expect(start.toString('hex')).toMatch(BEGINNINGS[name] ?? /^$/);
    const sums = readFileSync(join(folder, 'executables', 'SHA256SUMS'), 'utf8');
    const hash = new Bun.CryptoHasher('sha256').update(await Bun.file(path ?? '').bytes()).digest('hex');
    expect(sums).toContain(`${hash}  dragoman-${name}\n`);
  });

describe.skipIf(OWN === null)('./dragoman, alone in an empty folder and with no environment', () => {
  const home = join(folder, 'home');
  const command: [string, ...string[]] = ['env', '-i', './dragoman'];

  test('serves models, its console and its documents, and uses its own name in its output', async () => {
    cpSync(join(folder, 'executables', `dragoman-${OWN}`), join(home, 'dragoman'));
    const program = await startProgram(['--port', '0'], { folder: home, command });
    try {
      const key = (): string => /sk-dm-v1-\w+/.exec(program.out())?.[0] ?? '';
      await eventually('the first key is printed', () => key() !== '');
      expect(program.out()).toContain('`./dragoman keys create NAME`');
      const get = async (path: string): Promise<string> => {
        const answer = await fetch(program.origin + path);
        expect([path, answer.status]).toEqual([path, 200]);
        return answer.text();
      };
      const [script = ''] = /\/console\/assets\/main[^"]+/.exec(await get('/console')) ?? [];
      expect(await get(script)).not.toBe('');
      expect(await get('/docs')).toContain('swagger-ui');
      expect(await get('/docs/swagger-ui-bundle.js')).not.toBe('');
      expect(await get('/docs/guide/clients/codex')).toContain('aria-current="page"');
      const chat = await fetch(`${program.origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key()}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'sim/chat',
          messages: [{ role: 'user', content: 'What is 6 x 7?' }],
        }),
      });
      // The prices are inside.
      expect(await chat.json()).toMatchObject({ usage: { cost: expect.any(Number) } });
      const health = await runProgram(['health', '--url', program.origin], { folder: home, command });
      expect(health).toMatchObject({ code: 0, err: '' });
    } finally {
      expect((await program.stop()).code).toBe(0);
    }
  });

  test('starts again with several workers, checks drafts of its configuration, and backs itself up', async () => {
    writeFileSync(join(home, 'dragoman.yaml'), 'server: { workers: 2 }\n');
    const environment = ['DRAGOMAN_ADMIN_KEY=sk-test-admin-0123456789'];
    const program = await startProgram(['serve', '--port', '0'], {
      folder: home,
      command: ['env', '-i', ...environment, './dragoman'],
    });
    try {
      const draft = await fetch(`${program.origin}/api/v1/management/config/check`, {
        method: 'POST',
        headers: {
          authorization: 'Bearer sk-test-admin-0123456789',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ config: 'server: { prot: 1 }' }),
      });
      expect(await draft.text()).toContain('server.prot');
      const backup = await runProgram(['backup', 'copy'], { folder: home, command });
      expect(backup.code === 0 ? '' : backup.err).toBe('');
      expect((await runProgram(['verify', 'copy'], { folder: home, command })).code).toBe(0);
    } finally {
      expect((await program.stop()).code).toBe(0);
    }
  });
});
