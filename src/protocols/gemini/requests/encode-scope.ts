// State that the encoders of one request share: the target and the report.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import type { CanonicalRequest, Report, Source, Target } from '../../../canonical/index.ts';

export interface EncodeScope {
  readonly target: Target;
  readonly report: Report;
}

/** Returns a copy of the raw form of a node that came from a client of this protocol; otherwise undefined. */
export function ownRaw(source: Source | undefined): MutableJsonObject | undefined {
  return source?.protocol === 'gemini' ? { ...source.raw } : undefined;
}

/**
 * True for Gemini 3 and later, which take a thinking level. Only these accept images in function responses, and a
 * response format or hosted tools together with functions, and need their signatures back (documentation "Gemini 3",
 * 2026-11).
 */
export function isLevelGeneration(target: Target): boolean {
  return target.reasoningStyle === 'effort';
}

/**
 * True if functions may be sent together with hosted tools or a response format. For a model of unknown generation, a
 * client of this protocol knows best.
 */
export function mayCombine({ protocol }: CanonicalRequest, target: Target): boolean {
  return isLevelGeneration(target) || (protocol === 'gemini' && target.reasoningStyle === 'none');
}

/** Reports a cache breakpoint, which cannot be sent because Gemini caches automatically. */
export function dropCache(cache: JsonObject | undefined, path: string, report: Report): void {
  if (cache)
    report.add(
      `${path}.cache_control`,
      'dropped',
      'Gemini caches automatically and does not support breakpoints',
    );
}
