// Files that a packed program reads at run time, and their paths in the executable or the npm package. Paths are
// those of the source tree, and `packages/` for files of other packages.
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { ROOT } from './pack-options.ts';

/** Files of packages that the program resolves by name. */
const OF_PACKAGES = [
  'swagger-ui-dist/swagger-ui.css',
  'swagger-ui-dist/swagger-ui-bundle.js',
  'gpt-tokenizer/data/o200k_base.tiktoken',
];
const SCRIPTS_OF_SERVERS = ['src/cluster/valkey/shared.lua'];

/**
 * Paths of the files on disk, by their paths in the package.
 * @param folders additional folders, by their paths in the package
 */
export async function filesInside(
  folders: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, string>> {
  const files = new Map(SCRIPTS_OF_SERVERS.map((path) => [path, join(ROOT, path)]));
  for (const path of OF_PACKAGES) files.set(`packages/${path}`, packageFile(path));
  for (const [place, folder] of Object.entries(folders))
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile()) files.set(`${place}/${relative(folder, path).replaceAll(sep, '/')}`, path);
    }
  return files;
}

/** Path of a package's file, even if the package does not export it. */
function packageFile(path: string): string {
  const [name = '', ...rest] = path.split('/');
  const inside = Bun.resolveSync(name, ROOT);
  const packages = `${sep}node_modules${sep}`;
  return join(inside.slice(0, inside.lastIndexOf(packages) + packages.length), name, ...rest);
}

/**
 * Bundler plugin that replaces paths relative to a source by paths in the package.
 * @param up relative path from the program's folder to that of the package: empty, or `../` once or more
 * @param entry source that `first` is prepended to
 */
export function placing(up: string, entry = '', first = ''): Bun.BunPlugin {
  const inside = (place: string): string =>
    `new URL(${JSON.stringify(up + place)}, Bun.pathToFileURL(Bun.main)).href`;
  return {
    name: 'places',
    setup(bundler) {
      bundler.onLoad({ filter: /[/\\](src|sim)[/\\].*\.ts$/ }, async ({ path }) => {
        const url = inside(relative(ROOT, path).replaceAll(sep, '/'));
        const text = await readFile(path, 'utf8');
        const contents = text
          .replaceAll('import.meta.url', url)
          .replaceAll('import.meta.dirname', `Bun.fileURLToPath(new URL('.', ${url}))`)
          .replaceAll(/import\.meta\.resolve\('([^']*)'\)/g, (_, name: string) =>
            inside(`packages/${belowPackages(Bun.resolveSync(name, ROOT)).replaceAll(sep, '/')}`),
          );
        return { contents: path === entry ? `${first}\n${contents}` : contents, loader: 'ts' };
      });
    },
  };
}

/** Part of a path after the last `node_modules` folder. */
function belowPackages(path: string): string {
  const packages = `${sep}node_modules${sep}`;
  return path.slice(path.lastIndexOf(packages) + packages.length);
}
