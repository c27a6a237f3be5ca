// Builds the executables of a release for all platforms into `dist/executables/`: `npm run executables`. Runtimes of
// other platforms come from npm, with the version and checksum of the lock file.
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeConsole } from '../console/build/build.ts';
import { writeSite } from '../docs/site/build.ts';
import { writeExecutable } from './executable.ts';
import { ROOT } from './pack-options.ts';

interface Platform {
  /** Suffix of the executable's name. */
  readonly name: string;
  /** npm package with the runtime. */
  readonly source: string;
  readonly target: string;
}

const PLATFORMS: readonly Platform[] = [
  { name: 'linux-x64', source: '@oven/bun-linux-x64', target: 'bun-linux-x64' },
  { name: 'linux-arm64', source: '@oven/bun-linux-aarch64', target: 'bun-linux-arm64' },
  { name: 'macos-x64', source: '@oven/bun-darwin-x64', target: 'bun-darwin-x64' },
  { name: 'macos-arm64', source: '@oven/bun-darwin-aarch64', target: 'bun-darwin-arm64' },
  { name: 'windows-x64.exe', source: '@oven/bun-windows-x64', target: 'bun-windows-x64' },
];

/**
 * Builds the executables of all or some platforms, and their `SHA256SUMS`.
 * @param folder is replaced
 * @returns paths by platform; `null` if the runtime could not be fetched, which is also printed
 */
export async function writeExecutables(
  folder: string,
  wanted: readonly string[] = PLATFORMS.map(({ name }) => name),
): Promise<ReadonlyMap<string, string | null>> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'dragoman-executables-'));
  const written = new Map<string, string | null>();
  try {
    const files = join(work, 'console');
    await writeConsole(files);
    const site = join(work, 'docs');
    writeSite(site);
    for (const platform of PLATFORMS.filter(({ name }) => wanted.includes(name))) {
      const path = join(folder, `dragoman-${platform.name}`);
      const isOwn = platform.target === `bun-${process.platform}-${process.arch}`;
      const runtime = isOwn ? process.execPath : fetchRuntime(platform.source, work);
      written.set(platform.name, runtime === null ? null : path);
      if (runtime === null) continue;
      await writeExecutable({
        path,
        folders: { 'dist/console/inside': files, 'dist/docs': site },
        target: isOwn ? null : platform.target,
        runtime,
      });
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  const sums = readdirSync(folder)
    .toSorted()
    .map((name) => `${sha('sha256', join(folder, name), 'hex')}  ${name}\n`);
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
  return written;
}

/** Path of the runtime in an npm package. `null`: it could not be fetched. @throws Error if it does not match the lock file */
function fetchRuntime(source: string, work: string): string | null {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>;
  };
  const locked = lock.packages[`node_modules/${source}`];
  if (!locked) throw new Error(`${source} is not in package-lock.json`);
  const folder = join(work, source.replace('/', '-'));
  mkdirSync(folder);
  const packed = Bun.spawnSync(['npm', 'pack', '--silent', `${source}@${locked.version}`], { cwd: folder });
  const [archive] = readdirSync(folder);
  if (packed.exitCode !== 0 || archive === undefined) {
    console.error(`skipped: ${source}@${locked.version} could not be fetched`);
    return null;
  }
  if (`sha512-${sha('sha512', join(folder, archive), 'base64')}` !== locked.integrity)
    throw new Error(`the checksum of ${source}@${locked.version} does not match package-lock.json`);
  const unpacked = Bun.spawnSync(['tar', '-xzf', archive], { cwd: folder });
  if (unpacked.exitCode !== 0)
    throw new Error(`${archive} could not be unpacked: ${unpacked.stderr.toString()}`);
  const bin = join(folder, 'package', 'bin');
  const runtime = join(bin, readdirSync(bin).find((name) => /^bun(?:\.exe)?$/.test(name)) ?? 'bun');
  chmodSync(runtime, 0o755);
  return runtime;
}

function sha(algorithm: 'sha256' | 'sha512', path: string, encoding: 'hex' | 'base64'): string {
  return createHash(algorithm).update(readFileSync(path)).digest(encoding);
}

if (import.meta.main) {
  const wanted = process.argv.slice(2);
  const written = await writeExecutables(
    join(ROOT, 'dist', 'executables'),
    wanted.length > 0 ? wanted : undefined,
  );
  for (const [name, path] of written) console.log(path ?? `${name}: not built`);
  if ([...written.values()].includes(null)) process.exitCode = 1;
}
