// Packs the program into `dist/`: an executable with the runtime, a script with bytecode for machines where the
// executable does not run, the console and the documents. Run by `npm install` and `npm run pack`. The launchers use
// the result unless a source is newer. It is optional.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { writeConsole } from '../console/build/build.ts';
import { writeSite } from '../docs/site/build.ts';
import { consoleVersion } from '../src/operations/console/index.ts';
import { writeExecutable } from './executable.ts';
import { COMPILED_DEPTH, MINIFY, ROOT } from './pack-options.ts';

const PROGRAM = join(ROOT, 'src', 'app', 'main.ts');
/** Rarely used packages, an eighth of the script's size. Loaded from `node_modules` when needed. */
const LEFT_OUT = ['@modelcontextprotocol/client'];

/**
 * Packs the program.
 * @param folder is replaced as a whole; must be directly in the package folder
 * @throws Error, or AggregateError with build errors; errors of the executable are only printed
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
    // Bytecode can only be stored next to CommonJS scripts.
    format: 'cjs',
    bytecode: true,
    bytecodeDepth: COMPILED_DEPTH,
    minify: MINIFY,
    plugins: [placing(folder)],
  });
  if (!existsSync(join(draft, 'main.js.jsc'))) throw new Error('the packed program could not be compiled');
}

/** Builds the console, the documents, and the executable for this machine. */
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
    console.error('The executable could not be built; the packed script is used instead:', error);
  });
}

/**
 * Bundler plugin that replaces the location of each module by that of its source, because a bundle has only one
 * module.
 */
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
