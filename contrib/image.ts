// Writes the contents of the container image: the executable, its libraries, and a data directory. Used by the
// Dockerfile and by the test that builds the image without Docker: `npm run image -- FOLDER`.
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './pack-options.ts';

/** User and group id of the image, which hosts usually do not use. */
const USER = 10_001;

/**
 * Writes `root/`, with files owned by root, and `owned/`, with those of the image's user. Both correspond to `/` in
 * the image.
 * @param folder is replaced
 * @param executable must be for this machine
 * @throws Error if the required libraries cannot be determined
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

/** Paths of the libraries and of the dynamic loader, as resolved on this machine. */
function librariesOf(executable: string): readonly string[] {
  const { stdout, exitCode } = Bun.spawnSync(['ldd', executable]);
  const paths = [...stdout.toString().matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
  if (exitCode !== 0 || paths.length === 0) throw new Error(`ldd cannot list the libraries of ${executable}`);
  return paths;
}

if (import.meta.main)
  writeImage(process.argv[2] ?? join(ROOT, 'dist', 'image'), join(ROOT, 'dist', 'dragoman'));
