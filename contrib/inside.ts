// Files of the package that a program needs outside of it, in an executable or in the package for npm, and where it looks for
// them. Their paths are those of the package, and `packages/` for files of other packages.
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { ROOT } from './pack-options.ts';

/** Files of packages that the program reads by their names, which it resolves. */
const OF_PACKAGES = [
  'swagger-ui-dist/swagger-ui.css',
  'swagger-ui-dist/swagger-ui-bundle.js',
  'gpt-tokenizer/data/o200k_base.tiktoken',
];
const SCRIPTS_OF_SERVERS = ['src/cluster/valkey/shared.lua'];

/**
 * Paths of files on this disk, by their places inside.
 * @param folders whose files are taken too, by their places
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

/** Path of a file of a package, which its `exports` may not name. */
function packageFile(path: string): string {
  const [name = '', ...rest] = path.split('/');
  const inside = Bun.resolveSync(name, ROOT);
  const packages = `${sep}node_modules${sep}`;
  return join(inside.slice(0, inside.lastIndexOf(packages) + packages.length), name, ...rest);
}

/**
 * Plugin that tells sources their places inside.
 * @param up from the folder of the program that runs to that of the package: empty, or `../` and so on
 * @param entry source before which `first` stands
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

/** Part of a path behind the last folder of packages. */
function belowPackages(path: string): string {
  const packages = `${sep}node_modules${sep}`;
  return path.slice(path.lastIndexOf(packages) + packages.length);
}
