// Moves and limits prompt-cache breakpoints of other protocols.
import type { Item, Part, Report } from '../../../canonical/index.ts';

/**
 * OpenAI writes four prefixes of a request to its cache, the last of them automatically (guide "Prompt caching",
 * 2026-11).
 */
const MOST_BREAKPOINTS = 3;

/**
 * Returns the items with breakpoints only on parts: that of an item moves to its last part. Only the last ones are
 * kept, because they cover the longest prefixes. Removed ones are reported.
 */
export function placeBreakpoints(items: readonly Item[], report: Report): readonly Item[] {
  const placed = items.map(onLastPart);
  const marked = placed.flatMap(inputParts).filter((part) => part.cache !== undefined);
  const surplus = new Set(marked.slice(0, Math.max(marked.length - MOST_BREAKPOINTS, 0)));
  if (surplus.size === 0) return placed;
  for (const { path } of surplus)
    report.add(
      `${path ?? 'messages'}.cache_control`,
      'dropped',
      `OpenAI accepts at most ${MOST_BREAKPOINTS} cache breakpoints; the first ones were removed`,
    );
  const without = (part: Part): Part => (surplus.has(part) ? { ...part, cache: undefined } : part);
  return placed.map((item) =>
    'parts' in item && inputParts(item).some((part) => surplus.has(part))
      ? { ...item, parts: item.parts.map(without) }
      : item,
  );
}

function onLastPart(item: Item): Item {
  const { cache } = item;
  const last = inputParts(item).at(-1);
  if (cache === undefined || last === undefined || !('parts' in item)) return item;
  const parts = item.parts.map((part) => (part === last ? { ...part, cache: part.cache ?? cache } : part));
  return { ...item, cache: undefined, parts };
}

/** Returns the parts that can carry a breakpoint and come from another protocol. */
function inputParts(item: Item): readonly Part[] {
  const isInput = item.type === 'tool_result' || (item.type === 'message' && item.role !== 'assistant');
  return isInput ? item.parts.filter((part) => part.source?.protocol !== 'openai-responses') : [];
}
