// The stylesheet: Tailwind, told which words stand in the sources. Its own scanner is a native program; every word between
// quotes and spaces will do, as what is no name of a class makes no rule.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compile } from 'tailwindcss';

const WORD = /[^\s"'`<>{};]+/g;

/**
 * CSS of everything that the sources of a folder use.
 * @param folder in which `styles.css` is, too
 * @throws Error for a stylesheet that cannot be read
 */
export async function stylesheet(folder: string): Promise<string> {
  const compiler = await compile(readFileSync(join(folder, 'styles.css'), 'utf8'), {
    base: folder,
    loadStylesheet: async (id, base) => {
      const path = id.startsWith('.') ? join(base, id) : Bun.resolveSync(packageFile(id), folder);
      return { path, base: dirname(path), content: readFileSync(path, 'utf8') };
    },
  });
  const words = new Set<string>();
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/\.tsx?$/.test(file)) continue;
    for (const [word] of readFileSync(join(folder, file), 'utf8').matchAll(WORD)) words.add(word);
  }
  return compiler.build([...words]);
}

/** `tailwindcss` alone means its stylesheet. */
function packageFile(id: string): string {
  return id === 'tailwindcss' ? 'tailwindcss/index.css' : id;
}
