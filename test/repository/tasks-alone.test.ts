// A task is known in its own folders alone: whatever else holds for requests holds for all tasks, and names none. Looks for the
// words of a task in the sources, comments apart.
import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../..');

/** Folders of a task: in the engine, in protocols, and what its codecs share. */
const OWN = /^src\/(?:engine|protocols(?:\/[a-z-]+)?)\/tasks\/embeddings\//;

const WORDS = /embedding|\bembed(?:s|ded)?\b|embedContent|embedText/i;

/** Files that may name it, each with the reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  'src/engine/tasks/index.ts': 'the table: one line for each task',
  'src/catalog/families/index.ts': 'data: names of models that write no text',
  'src/catalog/families/special-models.ts': 'data: what models make, by their names',
  'src/catalog/providers/azure-deployments/index.ts': 'data: paths of a host',
  'src/catalog/providers/perplexity/index.ts': 'data: paths of a provider',
  'src/catalog/providers/vertex/index.ts': 'data: paths of a host',
  'src/protocols/openai/unserved.ts': 'data: parts of APIs that are not served, with the nearest that is',
  'src/protocols/gemini/addresses.ts': 'data: methods that are not served, with the nearest that is',
  'src/protocols/gemini/batches/methods.ts': 'data: methods that make batches',
  'src/protocols/errors/refusal-words.ts': 'data: words in which upstreams refuse',
  'src/storage/compact/dictionary.ts': 'data: frozen words of stored records',
  'src/app/config/schema/schema.ts': 'the embedded database',
  'src/engine/tools/pages/html-elements.ts': 'an element of HTML',
};

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}

test('only files of the task and data contain the word embeddings', () => {
  const named = ['src', 'sim']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(
        (file) => `${folder}/${file}`,
      ),
    )
    .filter((file) => file.endsWith('.ts') && !OWN.test(file))
    .filter((file) => WORDS.test(withoutComments(readFileSync(join(ROOT, file), 'utf8'))));
  expect(named.toSorted()).toEqual(Object.keys(ALLOWED).toSorted());
});
