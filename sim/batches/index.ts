// Batch APIs of the simulated vendors. Selects the vendor by path.
import { AnthropicBatches, PATH as ANTHROPIC } from './anthropic.ts';
import type { SimBatchesOptions } from './batch-store.ts';
import { GoogleBatches } from './google.ts';
import { OpenaiBatches } from './openai.ts';

const OPENAI = '/openai/v1';

export class SimBatches {
  readonly #openai: OpenaiBatches;
  readonly #anthropic: AnthropicBatches;
  readonly #google: GoogleBatches;

  constructor(options: SimBatchesOptions) {
    this.#openai = new OpenaiBatches(options);
    this.#anthropic = new AnthropicBatches(options);
    this.#google = new GoogleBatches(options);
  }

  /** @returns null if the path belongs to no batch API */
  async fetch(request: Request): Promise<Response | null> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname.startsWith(ANTHROPIC))
      return this.#anthropic.fetch(request, pathname.slice(ANTHROPIC.length), searchParams);
    if (pathname.startsWith(OPENAI))
      return this.#openai.fetch(request, pathname.slice(OPENAI.length), searchParams);
    return this.#google.fetch(request, pathname, searchParams);
  }
}
