// Writes what the container image holds: the executable, the libraries that it needs, and its data directory. The Dockerfile runs
// it, and so does the test that builds the image without Docker: `npm run image -- FOLDER`.
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './pack-options.ts';

/** User and group of the image: nobody whom a host knows. */
const USER = 10_001;

/**
 * Writes `root/`, files of root, and `owned/`, files of the image's user, as the image has them below `/`.
 * @param folder written anew
 * @param executable for this machine
 * @throws Error where the system cannot say which libraries it needs
 */
export function writeImage(folder: string, executable: string): void {
  rmSync(folder, { recursive: true, force: true });
  const root = join(folder, 'root');
  const copy = (from: string, to: string): void => {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    copyFileSync(from, join(root, to));
    chmodSync(join(root, to), 0o755);
  };
  copy(executable, '/dragoman');
  for (const library of librariesOf(executable)) copy(library, library);
  mkdirSync(join(root, 'etc'));
  writeFileSync(join(root, 'etc', 'passwd'), `dragoman:x:${USER}:${USER}::/data:/dragoman\n`);
  mkdirSync(join(folder, 'owned', 'data'), { recursive: true });
  mkdirSync(join(folder, 'owned', 'tmp'));
}

/** Paths of the libraries and of the loader, as the loader of this machine finds them. */
function librariesOf(executable: string): readonly string[] {
  const { stdout, exitCode } = Bun.spawnSync(['ldd', executable]);
  const paths = [...stdout.toString().matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
  if (exitCode !== 0 || paths.length === 0) throw new Error(`ldd does not know what ${executable} needs`);
  return paths;
}

if (import.meta.main)
  writeImage(process.argv[2] ?? join(ROOT, 'dist', 'image'), join(ROOT, 'dist', 'dragoman'));
