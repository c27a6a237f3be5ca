// Tells all metrics, and loads what writes them with the first scrape: a gateway that nobody scrapes does without.
import type { Readings } from './reading.ts';

export interface Exposed {
  readonly text: string;
  readonly contentType: string;
}

/** @returns all metrics as they are when it is called */
export function lazyExposition(readings: Readings): () => Promise<Exposed> {
  let loading: Promise<() => Promise<Exposed>> | undefined;
  return async () => (await (loading ??= load(readings)))();
}

async function load(readings: Readings): Promise<() => Promise<Exposed>> {
  const { CONTENT_TYPE, exposition } = await import('./exposition.ts');
  const expose = exposition(readings);
  return async () => ({ text: await expose(), contentType: CONTENT_TYPE });
}
