// Generates `src/catalog/bundled-prices.jsonl`, the bundled prices and models, from the installed version of
// `@pydantic/genai-prices`: `npm run prices`. A test checks that the committed file is up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitForUpdate } from '@pydantic/genai-prices';

const ROOT = join(import.meta.dirname, '..');
const FILE = join(ROOT, 'src/catalog/bundled-prices.jsonl');
const PACKAGE = join(ROOT, 'node_modules/@pydantic/genai-prices');

/** Content of the file: a line about the source, then one line per vendor with the members that the catalog uses. */
export async function renderBundledPrices(): Promise<string> {
  const { name, version, license } = JSON.parse(
    readFileSync(join(PACKAGE, 'package.json'), 'utf8'),
  ) as Record<string, string>;
  const copyright = /^Copyright .*$/m.exec(readFileSync(join(PACKAGE, 'LICENSE'), 'utf8'))?.[0];
  const vendors = (await waitForUpdate()) ?? [];
  const lines = vendors.map(({ id, models, fallback_model_providers }) => ({
    id,
    fallback_model_providers,
    models: models.map((model) => ({
      id: model.id,
      name: model.name,
      match: model.match,
      context_window: model.context_window,
      deprecated: model.deprecated,
      prices: model.prices,
    })),
  }));
  const head = { source: `${name} ${version}`, license, copyright };
  return `${[head, ...lines].map((line) => JSON.stringify(line)).join('\n')}\n`;
}

if (import.meta.main) writeFileSync(FILE, await renderBundledPrices());
