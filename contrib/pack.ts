// Packs the program into `dist/`: as an executable with the runtime in it, whose code is read as it is used; as one script,
// and beside it the same already compiled, for where the executable does not run; and the console as browsers get it.
// `npm install` runs it, and `npm run pack`. The launchers take what it wrote unless a source is newer. Nothing needs it.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { writeConsole } from '../console/build/build.ts';
import { consoleVersion } from '../src/console/index.ts';
import { recordUse } from './record-use.ts';

const ROOT = join(import.meta.dirname, '..');
const PROGRAM = join(ROOT, 'src', 'main.ts');
/** What few gateways use, and an eighth of the script would be: found among the packages when it is asked for. */
const LEFT_OUT = ['@modelcontextprotocol/client'];
/**
 * Levels of functions in functions that are compiled beside the script, which is read into memory as a whole, used or not; the
 * functions within those are made from source when they are first called.
 */
const COMPILED_DEPTH = 1;
/** Names stay: errors and profiles tell them. */
const MINIFY = { whitespace: true, syntax: true, identifiers: false };

/**
 * Packs.
 * @param folder in which the program will stand, one level below that of the package; written as one
 * @throws Error, or AggregateError of what could not be packed; never because of the executable alone
 */
export async function pack(folder: string): Promise<void> {
  const draft = `${folder}-${process.pid}`;
  try {
    await Promise.all([
      writeScript(draft, folder),
      consoleVersion().then((version) => writeConsole(join(draft, 'console', version))),
      writeExecutable(join(draft, 'dragoman'), folder).catch((error: unknown) => {
        rmSync(join(draft, 'dragoman'), { force: true });
        console.error('There is no executable, the packed script runs instead:', error);
      }),
    ]);
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
    plugins: [
      placing(folder, 'Bun.main', (name) => `Bun.pathToFileURL(Bun.resolveSync(${name}, Bun.main)).href`),
    ],
  });
  if (!existsSync(join(draft, 'main.js.jsc'))) throw new Error('the packed program could not be compiled');
}

/** Builds it, uses it, and builds it again with what was used in one place, which takes less time and memory to read. */
async function writeExecutable(path: string, folder: string): Promise<void> {
  // Where the folder of what runs cannot be replaced.
  if (process.platform === 'win32') return;
  const build = (order: string | null): Promise<unknown> =>
    Bun.build({
      entrypoints: [PROGRAM],
      target: 'bun',
      format: 'esm',
      splitting: true,
      bytecode: true,
      // The first is thrown away.
      optimize: { bytecode: order !== null },
      minify: MINIFY,
      compile: {
        outfile: path,
        bytecodeOrder: order,
        // Where it is started is not what it trusts.
        autoloadDotenv: false,
        autoloadBunfig: false,
        autoloadTsconfig: false,
        autoloadPackageJson: false,
      },
      // An executable stays where it was made, beside the packages of then, whose descriptions it does not read.
      plugins: [
        placing(folder, 'process.execPath', (name, path) =>
          beside(Bun.resolveSync(name.slice(1, -1), dirname(path)), folder, 'process.execPath'),
        ),
      ],
    });
  await build(null);
  const order = `${path}.order`;
  try {
    await recordUse(path, order);
    await build(order);
  } finally {
    rmSync(order, { force: true });
  }
}

/** The source text of a file's URL: where it always stood, beside the folder of the program that runs. */
function beside(path: string, folder: string, running: string): string {
  return `new URL(${JSON.stringify(relative(folder, path))}, Bun.pathToFileURL(${running})).href`;
}

/**
 * A packed program has no module of its own that could say where it is: those that ask are told where their source is.
 * @param running source text of the path of what runs, which stands in the folder
 * @param resolved source text of the URL of a file of a package, of the source text of its name, and whose file asks for it
 */
function placing(
  folder: string,
  running: string,
  resolved: (name: string, path: string) => string,
): Bun.BunPlugin {
  return {
    name: 'places',
    setup(build) {
      build.onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, async ({ path }) => {
        const url = beside(path, folder, running);
        const text = await Bun.file(path).text();
        const contents = text
          .replaceAll('import.meta.url', url)
          .replaceAll('import.meta.dirname', `Bun.fileURLToPath(new URL('.', ${url}))`)
          .replaceAll(/import\.meta\.resolve\(([^)]*)\)/g, (_, name: string) => resolved(name, path));
        return { contents, loader: 'ts' };
      });
    },
  };
}

if (import.meta.main) await pack(join(ROOT, 'dist'));
