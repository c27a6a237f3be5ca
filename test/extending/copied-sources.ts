// A copy of the sources to which a test adds as somebody would who extends the gateway.
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dir, '..', '..');

/** Copies the sources that the program needs into a folder of its own. */
export function copySources(folder: string): void {
  for (const name of ['src', 'sim', 'bin']) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}

/** A file of this folder, at its place among the copied sources. */
export function addFile(folder: string, name: string, place: string): void {
  const path = join(folder, place);
  mkdirSync(dirname(path), { recursive: true });
  const up = '../'.repeat(place.split('/').length - 2);
  writeFileSync(path, readFileSync(join(import.meta.dir, name), 'utf8').replaceAll('../../src/', up));
}

/** Adds lines behind what stands in a copied file. */
export function insert(
  folder: string,
  file: string,
  lines: readonly (readonly [after: string, line: string])[],
): void {
  const path = join(folder, file);
  let text = readFileSync(path, 'utf8');
  for (const [after, line] of lines) {
    if (!text.includes(after)) throw new Error(`${file} has no ${JSON.stringify(after)}`);
    text = text.replace(after, after + line);
  }
  writeFileSync(path, text);
}
