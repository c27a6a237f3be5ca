// State that the encoders of one request share: the target, the report, and where cache breakpoints were put.
import type { JsonObject, MutableJsonObject } from '../../base/json/index.ts';
import type { Report, Source, Target } from '../../canonical/index.ts';
import { anthropicBreakpoint } from '../prompt-breakpoint.ts';

/** Anthropic refuses a request with more breakpoints (documentation "Prompt caching", 2026-11). */
const MAX_BREAKPOINTS = 4;

export interface EncodeScope {
  readonly target: Target;
  readonly report: Report;
  /** Path in the client's body of each block that carries a breakpoint. */
  readonly cachePaths: Map<MutableJsonObject, string>;
}

/** The scope of a new request: no breakpoint was put anywhere yet. */
export function newScope(target: Target, report: Report): EncodeScope {
  return { target, report, cachePaths: new Map() };
}

/** A copy of the raw form of a node that came from a client of this protocol; undefined for any other. */
export function ownRaw(source: Source | undefined): MutableJsonObject | undefined {
  return source?.protocol === 'anthropic-messages' ? { ...source.raw } : undefined;
}

/** Puts the client's breakpoint on a block. */
export function markCache(
  block: MutableJsonObject,
  cache: JsonObject | undefined,
  path: string,
  scope: EncodeScope,
): void {
  if (cache === undefined) return;
  block['cache_control'] = anthropicBreakpoint(cache, path, scope.report);
  scope.cachePaths.set(block, `${path}.cache_control`);
}

/**
 * Removes the first breakpoints when there are more than Anthropic accepts: the last ones cover the longest prefix.
 * @param lists of blocks, in the order in which Anthropic caches: tools, system, messages
 */
export function limitBreakpoints(
  lists: readonly (readonly MutableJsonObject[])[],
  { cachePaths, report }: EncodeScope,
): void {
  const marked: MutableJsonObject[] = [];
  for (const blocks of lists)
    for (const block of blocks) if (block['cache_control'] !== undefined) marked.push(block);
  if (marked.length <= MAX_BREAKPOINTS) return;
  for (const block of marked.slice(0, marked.length - MAX_BREAKPOINTS)) {
    delete block['cache_control'];
    const path = cachePaths.get(block) ?? 'cache_control';
    report.add(
      path,
      'dropped',
      `Anthropic accepts ${MAX_BREAKPOINTS} cache breakpoints; the first are removed`,
    );
  }
}
