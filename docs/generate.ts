// Writes the pages that are generated from code: `npm run docs`. One part per page; a test checks that the
// committed pages are what this would write.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderChatCompletions } from './parts/chat-completions.ts';
import { renderConsoleApi } from './parts/console-api.ts';
import { configurationPages, renderConfigSchema, renderConfiguration } from './parts/configuration.ts';
import { renderErrors } from './parts/errors.ts';
import { renderMetrics } from './parts/metrics.ts';
import { renderParameters } from './parts/parameters.ts';
import { renderProtocols } from './parts/protocols.ts';
import { renderProviders } from './parts/providers.ts';
import { renderReliability } from './parts/reliability.ts';

export interface Page {
  /** File name below `docs/`. */
  readonly file: string;
  readonly render: () => string;
}

/** Every generated page, one line each. */
export const pages: readonly Page[] = [
  { file: 'configuration.md', render: renderConfiguration },
  ...configurationPages,
  { file: 'config.schema.json', render: renderConfigSchema },
  { file: '../console/api/schema.ts', render: renderConsoleApi },
  { file: 'chat-completions.md', render: renderChatCompletions },
  { file: 'errors.md', render: renderErrors },
  { file: 'metrics.md', render: renderMetrics },
  { file: 'parameters.md', render: renderParameters },
  { file: 'protocols.md', render: renderProtocols },
  { file: 'providers.md', render: renderProviders },
  { file: 'reliability.md', render: renderReliability },
];

if (import.meta.main) {
  for (const page of pages) writeFileSync(join(import.meta.dirname, page.file), page.render());
}
