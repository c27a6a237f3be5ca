// State that the encoders of one request share, and encoding of cache points.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import { type Report, type Target, TEXTS } from '../../../canonical/index.ts';
import { anthropicBreakpoint } from '../../content/prompt-breakpoint.ts';

export interface EncodeScope {
  readonly target: Target;
  readonly report: Report;
}

/**
 * Adds a cache point after the last element of a list.
 * @param cache the breakpoint in Anthropic's form; undefined: none
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
    const why = blocks.length === 0 ? TEXTS.contentNotSent : 'this model does not support cache points';
    report.add(`${path}.cache_control`, 'dropped', why);
    return;
  }
  // Five minutes is the default of a cache point (API reference `CachePointBlock`).
  const { ttl: lifetime } = anthropicBreakpoint(cache, path, report);
  const ttl = lifetime === '1h' ? { ttl: '1h' } : {};
  blocks.push({ cachePoint: { type: 'default', ...ttl } });
}
