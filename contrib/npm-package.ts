// Builds the npm package and its archive: `npm run package`. It contains the packed program and the files that this
// reads. Its only dependency is the runtime, and it has no install scripts.
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeConsole } from '../console/build/build.ts';
import { writeSite } from '../docs/site/build.ts';
import { filesInside, placing } from './inside.ts';
import { COMPILED_DEPTH, MINIFY, ROOT } from './pack-options.ts';

const PROGRAM = join(ROOT, 'src', 'app', 'main.ts');
/** Programs that the gateway runs in separate processes. */
const PROCESSES = [
  'src/app/cli/draft-process.ts',
  'src/engine/documents/pdf-process.ts',
  'src/engine/adapt/schema-process.ts',
];
const LAUNCHERS = ['bunfig.toml', 'dragoman.mjs', 'installed.mjs', 'program.mjs', 'runtime.mjs'];
/** Documents and other files for users. */
const USER_FILES = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'contrib/systemd',
  'dashboards',
  'deploy',
  'docs/config.schema.json',
];

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly [member: string]: unknown;
}

/**
 * Builds the package and its archive.
 * @param folder is replaced; the package is in `package/` below it
 * @returns path of the archive
 * @throws Error, or AggregateError with build errors
 */
export async function writeNpmPackage(folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  const home = join(folder, 'package');
  const files = join(folder, 'console');
  await writeConsole(files);
  writeSite(join(home, 'dist', 'docs'));
  await writeProgram(home);
  for (const [place, path] of await filesInside({ 'dist/console/inside': files }))
    copy(path, join(home, place));
  for (const name of LAUNCHERS) copy(join(ROOT, 'bin', name), join(home, 'bin', name));
  for (const path of USER_FILES) copy(join(ROOT, path), join(home, path));
  const manifest = manifestOf(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest);
  writeFileSync(join(home, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  rmSync(files, { recursive: true });
  const packed = Bun.spawnSync(['npm', 'pack', '--silent', '--pack-destination', folder, home], {
    cwd: folder,
  });
  if (packed.exitCode !== 0) throw new Error(`npm pack: ${packed.stderr.toString()}`);
  return join(folder, packed.stdout.toString().trim());
}

/** Bundles the program and those that it runs in separate processes. */
async function writeProgram(home: string): Promise<void> {
  await Bun.build({
    entrypoints: [PROGRAM],
    outdir: join(home, 'dist'),
    target: 'bun',
    format: 'cjs',
    bytecode: true,
    bytecodeDepth: COMPILED_DEPTH,
    minify: MINIFY,
    plugins: [placing('../')],
  });
  for (const path of PROCESSES) {
    const { outputs } = await Bun.build({
      entrypoints: [join(ROOT, path)],
      target: 'bun',
      format: 'esm',
      minify: MINIFY,
      plugins: [placing('../'.repeat(path.split('/').length - 1))],
    });
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), (await outputs[0]?.text()) ?? '');
  }
}

/**
 * The package's manifest, with the runtimes of all platforms as dependencies, and without build dependencies and
 * scripts.
 */
function manifestOf({ name, version, description, keywords, license, type, engines }: Manifest): object {
  const runtime = JSON.parse(readFileSync(join(ROOT, 'node_modules', 'bun', 'package.json'), 'utf8')) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  return {
    name,
    version,
    description,
    keywords,
    license,
    type,
    engines,
    bin: { dragoman: 'bin/dragoman.mjs' },
    files: [
      'bin',
      'contrib',
      'dashboards',
      'deploy',
      'dist',
      'docs',
      'packages',
      'src',
      'CHANGELOG.md',
      'SECURITY.md',
    ],
    optionalDependencies: runtime.optionalDependencies,
  };
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true });
}

if (import.meta.main) {
  const archive = await writeNpmPackage(join(ROOT, 'dist', 'npm'));
  console.log(`${archive}: ${(statSync(archive).size / 1_000_000).toFixed(1)} MB`);
}
