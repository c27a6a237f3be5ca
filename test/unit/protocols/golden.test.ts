// Golden files: test/golden/<protocol>/<operation>/<case>.txt holds the input, a line of dashes, and the
// expected output. `UPDATE_GOLDEN=1 npm test` rewrites the expectations; read the diff before committing it.
import { expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runGolden } from '../../support/golden-operations.ts';

const root = join(import.meta.dir, '../../golden');
const LINE = /^-{8,}$/m;

for (const protocol of readdirSync(root).filter((name) => statSync(join(root, name)).isDirectory())) {
  for (const operation of readdirSync(join(root, protocol))) {
    for (const file of readdirSync(join(root, protocol, operation))) {
      const path = join(root, protocol, operation, file);
      test(`${protocol} ${operation} ${file.replace(/\.txt$/, '')}`, () => {
        const [input = '', expected] = readFileSync(path, 'utf8').split(LINE);
        const actual = runGolden(protocol, operation, input.trim());
        if (process.env['UPDATE_GOLDEN'] || expected === undefined) {
          writeFileSync(path, `${input.trim()}\n--------\n${actual.trim()}\n`);
          if (expected === undefined) throw new Error(`${path} had no expectation; one was written: read it`);
          return;
        }
        expect(actual.trim()).toBe(expected.trim());
      });
    }
  }
}
