// Renders all metrics. The renderer is loaded with the first scrape, so that a gateway without scrapes does not need
// it.
import type { Readings } from './reading.ts';

export interface Exposed {
  readonly text: string;
  readonly contentType: string;
}

/** @returns a function that renders the current values of all metrics */
export function lazyExposition(readings: Readings): () => Promise<Exposed> {
  let loading: Promise<() => Promise<Exposed>> | undefined;
  return async () => (await (loading ??= load(readings)))();
}

async function load(readings: Readings): Promise<() => Promise<Exposed>> {
  const { CONTENT_TYPE, exposition } = await import('./exposition.ts');
  const expose = exposition(readings);
  return async () => ({ text: await expose(), contentType: CONTENT_TYPE });
}
