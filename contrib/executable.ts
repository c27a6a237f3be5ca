// Builds the executable: the runtime, the program, and all files that they read, so that it needs nothing beside it. Knows the
// files' places; what is in them is others' matter.
import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { filesInside, placing } from './inside.ts';
import { MINIFY, ROOT } from './pack-options.ts';
import { recordUse } from './record-use.ts';

const ENTRY = join(ROOT, 'src', 'app', 'executable.ts');
/** Module that names every file inside, so that the bundler takes it in. */
const CONTENTS = 'dragoman:contents';

export interface Executable {
  /** Path of the file to write. */
  readonly path: string;
  /** Folders whose files go into it, by where the program looks for them below the folder of the package. */
  readonly folders: Readonly<Record<string, string>>;
  /** Platform as the runtime names it, such as `bun-linux-arm64`. `null`: that of this machine. */
  readonly target: string | null;
  /** Runtime of that platform. `null`: the one that runs this. */
  readonly runtime: string | null;
}

/**
 * Builds an executable. One for this machine is built, used, and built again with the code that was used in one place, which
 * takes less time and memory to read.
 * @throws Error, or AggregateError of what could not be built
 */
export async function writeExecutable(executable: Executable): Promise<void> {
  const files = await filesInside(executable.folders);
  if (executable.target !== null) return build(executable, files, null);
  await build(executable, files, null);
  const order = `${executable.path}.order`;
  try {
    await recordUse(executable.path, order);
    await build(executable, files, order);
  } finally {
    rmSync(order, { force: true });
  }
}

async function build(
  { path, target, runtime }: Executable,
  files: ReadonlyMap<string, string>,
  order: string | null,
): Promise<void> {
  await Bun.build({
    entrypoints: [ENTRY],
    root: ROOT,
    target: 'bun',
    format: 'esm',
    splitting: true,
    bytecode: true,
    // An executable without an order is thrown away, or cannot be tried here.
    optimize: { bytecode: order !== null },
    minify: MINIFY,
    naming: { asset: '[dir]/[name].[ext]' },
    compile: {
      outfile: path,
      bytecodeOrder: order,
      ...(target !== null && { target: target as Bun.Build.CompileTarget }),
      ...(runtime !== null && { executablePath: runtime }),
      // The folder of the start is not trusted.
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
    // The folder of the package is that of the running program.
    plugins: [containing(files), placing('', ENTRY, `import '${CONTENTS}';`)],
  });
}

/** Has the bundler take in files under paths of our own. */
function containing(files: ReadonlyMap<string, string>): Bun.BunPlugin {
  return {
    name: 'contents',
    setup(bundler) {
      bundler.onResolve({ filter: /^dragoman:contents$/ }, () => ({ path: CONTENTS, namespace: 'dragoman' }));
      bundler.onLoad({ filter: /./, namespace: 'dragoman' }, () => ({
        contents: [...files.keys()]
          .map((path) => `import ${JSON.stringify(`dragoman-file:${path}`)};`)
          .join('\n'),
        loader: 'js',
      }));
      bundler.onResolve({ filter: /^dragoman-file:/ }, ({ path }) => ({
        path: join(ROOT, path.slice('dragoman-file:'.length)),
        namespace: 'dragoman-file',
      }));
      bundler.onLoad({ filter: /./, namespace: 'dragoman-file' }, async ({ path }) => ({
        contents: await readFile(files.get(relative(ROOT, path).replaceAll(sep, '/')) ?? path),
        loader: 'file',
      }));
    },
  };
}
