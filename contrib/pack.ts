// Packs the program into `dist/`: one script, and beside it the same already compiled, so that a start parses nothing; and the
// console as browsers get it.
// `npm install` runs it, and `npm run pack`. The launchers take what it wrote unless a source is newer. Nothing needs it.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { writeConsole } from '../console/build/build.ts';
import { consoleVersion } from '../src/console/index.ts';

const ROOT = join(import.meta.dirname, '..');
/** What runs as a process of its own, by its place in `src` and in what is packed. */
const PROGRAMS = ['main', 'cli/supervisor'];
/** What few gateways use, and an eighth of the program would be: found among the packages when it is asked for. */
const LEFT_OUT = ['@modelcontextprotocol/client'];
/**
 * Levels of functions in functions that are compiled. What is compiled is read into memory as a whole, used or not; the
 * functions within those are made from source when they are first called.
 */
const COMPILED_DEPTH = 1;

/**
 * A packed script has no module of its own that could say where it is: the files that ask stand where they always did,
 * beside the folder of the program that runs.
 */
function placed(text: string, path: string, folder: string): string {
  const url = `new URL(${JSON.stringify(relative(folder, path))}, Bun.pathToFileURL(Bun.main)).href`;
  return text
    .replaceAll('import.meta.url', url)
    .replaceAll(/import\.meta\.resolve\(([^)]*)\)/g, 'Bun.pathToFileURL(Bun.resolveSync($1, Bun.main)).href');
}

/**
 * Packs.
 * @param folder in which the program will stand, one level below that of the package; written as one
 * @throws Error, or AggregateError of what could not be packed
 */
export async function pack(folder: string): Promise<void> {
  const draft = `${folder}-${process.pid}`;
  try {
    await Bun.build({
      entrypoints: PROGRAMS.map((name) => join(ROOT, 'src', `${name}.ts`)),
      outdir: draft,
      target: 'bun',
      external: LEFT_OUT,
      // Only scripts can have their compiled form beside them.
      format: 'cjs',
      bytecode: true,
      bytecodeDepth: COMPILED_DEPTH,
      // Names stay: errors and profiles tell them.
      minify: { whitespace: true, syntax: true, identifiers: false },
      plugins: [
        {
          name: 'places',
          setup(build) {
            build.onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, async ({ path }) => ({
              contents: placed(await Bun.file(path).text(), path, folder),
              loader: 'ts',
            }));
          },
        },
      ],
    });
    if (!PROGRAMS.every((name) => existsSync(join(draft, `${name}.js.jsc`))))
      throw new Error('the packed program could not be compiled');
    await writeConsole(join(draft, 'console', await consoleVersion()));
    rmSync(folder, { recursive: true, force: true });
    renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

if (import.meta.main) await pack(join(ROOT, 'dist'));
