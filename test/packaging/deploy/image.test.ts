// The image without Docker: built by buildah from the last stage of the Dockerfile and what its first stage makes, then run as the
// image says, as its user. Skips itself where buildah is not installed.
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeConsole } from '../../../console/build/build.ts';
import { writeExecutable } from '../../../contrib/executable.ts';
import { writeImage } from '../../../contrib/image.ts';
import { writeSite } from '../../../docs/site/build.ts';
import { freePort } from '../../support/free-port.ts';
import { eventually, runProgram, startProgram } from '../../support/program.ts';
import { DEPLOY } from './deployments.ts';

const BUILDAH = process.platform === 'linux' && process.getuid?.() === 0 ? Bun.which('buildah') : null;
if (BUILDAH === null) console.log('skipped: the image, because buildah is not installed or this is not root');
const SLOW = 180_000;
const MB = 1_000_000;

interface Inspected {
  readonly Docker: {
    readonly config: {
      readonly User: string;
      readonly Env: readonly string[];
      readonly Entrypoint: readonly string[];
      readonly Cmd: readonly string[];
      readonly Healthcheck: { readonly Test: readonly string[] };
    };
  };
}

describe.skipIf(BUILDAH === null)('the image', () => {
  const work = mkdtempSync(join(tmpdir(), 'dragoman-image-'));
  const stores = ['--root', join(work, 'store'), '--runroot', join(work, 'run'), '--storage-driver', 'vfs'];
  const buildah = async (...args: readonly string[]): Promise<string> => {
    const end = await runProgram(args, { folder: work, command: [BUILDAH ?? '', ...stores] });
    expect(end.code === 0 ? '' : `buildah ${args[0]}: ${end.err}`).toBe('');
    return end.out.trim();
  };
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  test(
    'is built, starts without privileges on read-only files, serves requests, and passes its health check',
    async () => {
      const files = join(work, 'console');
      await writeConsole(files);
      const site = join(work, 'docs');
      writeSite(site);
      const executable = join(work, 'dragoman');
      const folders = { 'dist/console/inside': files, 'dist/docs': site };
      await writeExecutable({ path: executable, folders, target: null, runtime: null });
      const context = join(work, 'image');
      writeImage(context, executable);
      const [, stage = ''] = readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8').split(/^(?=FROM scratch$)/m);
      const text = stage.replaceAll(/ --from=build(.*) \/image\//g, '$1 ');
      writeFileSync(join(context, 'Dockerfile'), text);
      await buildah('bud', '--isolation', 'chroot', '--format', 'docker', '--tag', 'dragoman:test', context);

      const archive = join(work, 'image.tar');
      await buildah('push', '--quiet', 'dragoman:test', `oci-archive:${archive}`);
      const size = statSync(archive).size / MB;
      console.log(`the image has ${size.toFixed(0)} MB as registries keep it`);
      expect(size).toBeLessThan(100);

      const inspected = await buildah('inspect', '--type', 'image', 'dragoman:test');
      const { config } = (JSON.parse(inspected) as Inspected).Docker;
      expect(config.User).toBe('10001:10001');
      const container = await buildah('from', 'dragoman:test');
      const port = String(await freePort());
      const run = ['run', '--isolation', 'chroot', '--env', `DRAGOMAN_PORT=${port}`, container];
      const command = [...config.Entrypoint, ...config.Cmd];
      const program = await startProgram([...run, ...command], {
        folder: work,
        command: [BUILDAH ?? '', ...stores],
      });
      const key = (): string => /sk-dm-v1-\w+/.exec(program.out())?.[0] ?? '';
      await eventually('the first key is printed', () => key() !== '');
      const [check, ...checked] = config.Healthcheck.Test;
      expect(check).toBe('CMD');
      expect(await buildah(...run, ...checked)).toContain('"status":"ready"');
      const here = `http://127.0.0.1:${port}`;
      for (const path of ['/console', '/docs', '/docs/guide'])
        expect((await fetch(here + path)).status).toBe(200);
      const answer = await fetch(`${here}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key()}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'sim/chat', messages: [{ role: 'user', content: 'What is 6 x 7?' }] }),
      });
      expect(await answer.text()).toContain('6 x 7 = 42.');

      const mounted = await buildah('mount', container);
      const own = Bun.spawnSync(['find', mounted, '-xdev', '-uid', '10001', '-not', '-path', '*/data/*']);
      const places = own.stdout.toString().trim().split('\n');
      expect(places.map((path) => path.slice(mounted.length)).toSorted()).toEqual(['/data', '/tmp']);
      const open = Bun.spawnSync(['find', mounted, '-xdev', '-perm', '-o=w', '-not', '-type', 'l']);
      expect(open.stdout.toString()).toBe('');
      expect(statSync(join(mounted, 'data', 'dragoman')).mode & 0o777).toBe(0o700);
      await program.stop();
      expect((await buildahEnd(run, checked)).code).not.toBe(0);
    },
    SLOW,
  );

  const buildahEnd = (run: readonly string[], command: readonly string[]): ReturnType<typeof runProgram> =>
    runProgram([...run, ...command], { folder: work, command: [BUILDAH ?? '', ...stores] });
});
