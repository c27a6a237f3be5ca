// The `tools.web_search` section of the configuration file.
import { TEXTS } from '../../../canonical/index.ts';
import { inProgram, orNull, secretOrEmpty } from '../../../catalog/schema/index.ts';
import { z } from 'zod';
import { milliseconds } from './routing-schema.ts';

/** The search engine for models without a native search, and its limits. */
export const webSearchSchema = inProgram(
  z
    .strictObject({
      backend: orNull(z.enum(['searxng', 'brave', 'tavily', 'exa'])).describe(
        'Search engine for models that have none. See docs/web-search.md.',
      ),
      url: orNull(z.string().regex(/^https?:\/\/[^\s/]+/, TEXTS.mustBeHttpAddress)).describe(
        'Scheme and host of the engine; the path is appended. Required for SearXNG, optional for others.',
      ),
      api_key: orNull(secretOrEmpty()).describe('API key of the engine. Required for all but SearXNG.'),
      native: z.enum(['prefer', 'never']).default('prefer').describe('Whether models use their own search.'),
      max_results: z
        .number()
        .int()
        .min(1)
        .max(20)
        .default(10)
        .describe('Maximum results of a search, for any `search_context_size`.'),
      timeout_ms: milliseconds(10_000).describe('Timeout of a search, or of opening a page.'),
      price_usd_per_search: orNull(z.number().min(0)).describe(
        'Price of a search. Absent: unknown, which is not free.',
      ),
      pages: z.boolean().default(true).describe('Models may open pages and search in them.'),
    })
    .superRefine(({ backend, url: address, api_key: key }, context) => {
      const missing = (path: string): void =>
        context.addIssue({
          code: 'custom',
          path: [path],
          message: `is needed for the backend ${backend}`,
        });
      if (backend === 'searxng') {
        if (address === null) missing('url');
      } else if (backend !== null && !key) missing('api_key');
    }),
)
  .prefault({})
  .describe('Web search.');
