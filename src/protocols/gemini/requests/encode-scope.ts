// State that the encoders of one request share: the target and the report, and two facts read off the target.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import type { Report, Source, Target } from '../../../canonical/index.ts';

export interface EncodeScope {
  readonly target: Target;
  readonly report: Report;
}

/** A copy of the raw form of a node that came from a client of this protocol; undefined for any other. */
export function ownRaw(source: Source | undefined): MutableJsonObject | undefined {
  return source?.protocol === 'gemini' ? { ...source.raw } : undefined;
}

/**
 * True for Gemini 3 and later, which are told to think by level. They alone take pictures in function responses, an
 * answer format and hosted tools beside functions, and want their signatures back (documentation "Gemini 3", 2026-11).
 */
export function isLevelGeneration(target: Target): boolean {
  return target.reasoningStyle === 'effort';
}

/** Gemini caches by itself: a client's breakpoint has no place. */
export function dropCache(cache: JsonObject | undefined, path: string, report: Report): void {
  if (cache)
    report.add(`${path}.cache_control`, 'dropped', 'Gemini caches by itself and takes no breakpoints');
}
