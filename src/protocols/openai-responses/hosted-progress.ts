// The events by which the API tells the progress of tools that it runs itself. They say nothing that the items do not
// say, so they are written with the items, whoever ran the tool. API reference, "Streaming events".
import type { JsonObject } from '../../canonical/index.ts';

const STARTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['web_search_call', ['in_progress', 'searching']],
  ['file_search_call', ['in_progress', 'searching']],
  ['image_generation_call', ['in_progress', 'generating']],
  ['mcp_call', ['in_progress']],
  ['mcp_list_tools', ['in_progress']],
]);
/** Kinds that have an event for failure. */
const CAN_FAIL: ReadonlySet<string> = new Set(['mcp_call', 'mcp_list_tools']);

/** Names of the events that follow the announcement of an item. */
export function progressAtStart(item: JsonObject): readonly string[] {
  const kind = String(item['type']);
  return (STARTS.get(kind) ?? []).map((step) => `response.${kind}.${step}`);
}

/** Events with the arguments of a call that already has them when it is announced; OpenAI's own has none yet then. */
export function argumentsAtStart(
  item: JsonObject,
): readonly (readonly [type: string, members: JsonObject])[] {
  const text = item['arguments'];
  if (item['type'] !== 'mcp_call' || typeof text !== 'string' || text === '') return [];
  return [
    ['response.mcp_call_arguments.delta', { delta: text }],
    ['response.mcp_call_arguments.done', { arguments: text }],
  ];
}

/** Names of the events that come before the end of an item. */
export function progressAtEnd(item: JsonObject): readonly string[] {
  const kind = String(item['type']);
  if (!STARTS.has(kind)) return [];
  const error = item['error'] ?? null;
  const isFailed = item['status'] === 'failed' || error !== null;
  return [`response.${kind}.${isFailed && CAN_FAIL.has(kind) ? 'failed' : 'completed'}`];
}

/** True for an event that `progressAtStart` or `progressAtEnd` writes. */
export function isProgress(type: string): boolean {
  const [, kind = '', step = ''] = type.split('.');
  const steps = STARTS.get(kind);
  return steps !== undefined && (step === 'completed' || step === 'failed' || steps.includes(step));
}
