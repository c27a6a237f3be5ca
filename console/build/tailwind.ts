// Compiles the stylesheet with Tailwind. All words in the sources are candidates for class names, in place of
// Tailwind's scanner, which is a native program. Words that name no class produce no rule.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compile } from 'tailwindcss';

const WORD = /[^\s"'`<>{};]+/g;

/**
 * CSS for all classes that the sources of a folder use.
 * @param folder also contains `styles.css`
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

/** Resolves an import. `tailwindcss` alone means its stylesheet. */
function packageFile(id: string): string {
  return id === 'tailwindcss' ? 'tailwindcss/index.css' : id;
}
