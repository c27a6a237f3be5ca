// Builds the executable: runtime, program, and all files that they need.
import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { filesInside, placing } from './inside.ts';
import { MINIFY, ROOT } from './pack-options.ts';
import { recordUse } from './record-use.ts';

const ENTRY = join(ROOT, 'src', 'app', 'executable.ts');
/** Virtual module that imports every file, so that the bundler includes it. */
const CONTENTS = 'dragoman:contents';

export interface Executable {
  /** Path of the executable. */
  readonly path: string;
  /** Folders to include, by their paths relative to the package folder, where the program looks for them. */
  readonly folders: Readonly<Record<string, string>>;
  /** Platform as named by the runtime, such as `bun-linux-arm64`. `null`: this machine. */
  readonly target: string | null;
  /** Path of the runtime for that platform. `null`: the current one. */
  readonly runtime: string | null;
}

/**
 * Builds an executable. For this machine, it is built, run to record which code is used, and built again with that
 * code in one place, which reduces the time and memory of its start.
 * @throws Error, or AggregateError with build errors
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
    // An executable without an order is only temporary, or for another platform.
    optimize: { bytecode: order !== null },
    minify: MINIFY,
    naming: { asset: '[dir]/[name].[ext]' },
    compile: {
      outfile: path,
      bytecodeOrder: order,
      ...(target !== null && { target: target as Bun.Build.CompileTarget }),
      ...(runtime !== null && { executablePath: runtime }),
      // Files in the working directory are not trusted.
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
    // Paths of the package are relative to the executable.
    plugins: [containing(files), placing('', ENTRY, `import '${CONTENTS}';`)],
  });
}

/** Plugin that includes files under their paths in the package. */
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
