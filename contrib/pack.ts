// Packs the program into `dist/`: as an executable with the runtime in it, whose code is read as it is used; as one script,
// and beside it the same already compiled, for where the executable does not run; and the console and the documents as browsers get them.
// `npm install` runs it, and `npm run pack`. The launchers take what it wrote unless a source is newer. Nothing needs it.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { writeConsole } from '../console/build/build.ts';
import { writeSite } from '../docs/site/build.ts';
import { consoleVersion } from '../src/operations/console/index.ts';
import { writeExecutable } from './executable.ts';
import { COMPILED_DEPTH, MINIFY, ROOT } from './pack-options.ts';

const PROGRAM = join(ROOT, 'src', 'app', 'main.ts');
/** Packages that few gateways use, and that would be an eighth of the script: loaded from the packages when they are needed. */
const LEFT_OUT = ['@modelcontextprotocol/client'];

/**
 * Packs.
 * @param folder in which the program will stand, one level below that of the package; written as one
 * @throws Error, or AggregateError of what could not be packed; never because of the executable alone
 */
export async function pack(folder: string): Promise<void> {
  const draft = `${folder}-${process.pid}`;
  try {
    await Promise.all([writeScript(draft, folder), writeConsoleAndExecutable(draft)]);
    rmSync(folder, { recursive: true, force: true });
    renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function writeScript(draft: string, folder: string): Promise<void> {
  await Bun.build({
    entrypoints: [PROGRAM],
    outdir: draft,
    target: 'bun',
    external: LEFT_OUT,
    // Only scripts can have their compiled form beside them.
    format: 'cjs',
    bytecode: true,
    bytecodeDepth: COMPILED_DEPTH,
    minify: MINIFY,
    plugins: [placing(folder)],
  });
  if (!existsSync(join(draft, 'main.js.jsc'))) throw new Error('the packed program could not be compiled');
}

/** Writes the console, and the executable for this machine. A machine on which that does not run uses the script. */
async function writeConsoleAndExecutable(draft: string): Promise<void> {
  const files = join(draft, 'console', await consoleVersion());
  await writeConsole(files);
  const site = join(draft, 'docs');
  writeSite(site);
  const path = join(draft, 'dragoman');
  // Windows cannot replace the folder of a running program.
  if (process.platform === 'win32') return;
  await writeExecutable({
    path,
    folders: { 'dist/console/inside': files, 'dist/docs': site },
    target: null,
    runtime: null,
  }).catch((error: unknown) => {
    rmSync(path, { force: true });
    console.error('There is no executable, the packed script runs instead:', error);
  });
}

/** A packed program has no module of its own that could say where it is: those that ask are told where their source is. */
function placing(folder: string): Bun.BunPlugin {
  return {
    name: 'places',
    setup(build) {
      build.onLoad({ filter: /[/\\](src|sim)[/\\].*\.ts$/ }, async ({ path }) => {
        const url = `new URL(${JSON.stringify(relative(folder, path))}, Bun.pathToFileURL(Bun.main)).href`;
        const text = await Bun.file(path).text();
        const contents = text
          .replaceAll('import.meta.url', url)
          .replaceAll('import.meta.dirname', `Bun.fileURLToPath(new URL('.', ${url}))`)
          .replaceAll(
            /import\.meta\.resolve\(([^)]*)\)/g,
            (_, name: string) => `Bun.pathToFileURL(Bun.resolveSync(${name}, Bun.main)).href`,
          );
        return { contents, loader: 'ts' };
      });
    },
  };
}

if (import.meta.main) await pack(join(ROOT, 'dist'));
