// State that the encoders of one request share, and where cache points go.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import { type Report, type Target, TEXTS } from '../../../canonical/index.ts';
import { anthropicBreakpoint } from '../../prompt-breakpoint.ts';

export interface EncodeScope {
  readonly target: Target;
  readonly report: Report;
}

/**
 * Puts a cache point behind what was added to a list last.
 * @param cache the breakpoint in Anthropic's shape; undefined for none
 * @param path of the node that carries it, in the client's body
 */
export function addCachePoint(
  blocks: MutableJsonObject[],
  cache: JsonObject | undefined,
  path: string,
  { target, report }: EncodeScope,
): void {
  if (cache === undefined) return;
  if (!target.quirks.cacheControl || blocks.length === 0) {
    const why = blocks.length === 0 ? TEXTS.contentNotSent : 'this model has no cache points';
    report.add(`${path}.cache_control`, 'dropped', why);
    return;
  }
  // Five minutes is what a point without a time means (API reference `CachePointBlock`).
  const { ttl: lifetime } = anthropicBreakpoint(cache, path, report);
  const ttl = lifetime === '1h' ? { ttl: '1h' } : {};
  blocks.push({ cachePoint: { type: 'default', ...ttl } });
}
