// Progress events of hosted tools (API reference, "Streaming events"). They contain nothing new, so they are derived
// from the items, whichever protocol these came from.
import { asArray, asObject, type JsonObject } from '../../../base/json/index.ts';

const STARTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['web_search_call', ['in_progress', 'searching']],
  ['file_search_call', ['in_progress', 'searching']],
  ['image_generation_call', ['in_progress', 'generating']],
  ['mcp_call', ['in_progress']],
  ['mcp_list_tools', ['in_progress']],
]);
/** Types with an event for failure. */
const CAN_FAIL: ReadonlySet<string> = new Set(['mcp_call', 'mcp_list_tools']);

/** Returns the names of the events after an item's `added` event. */
export function progressAtStart(item: JsonObject): readonly string[] {
  const kind = String(item['type']);
  return (STARTS.get(kind) ?? []).map((step) => `response.${kind}.${step}`);
}

/** Returns the argument events of a call that already has its arguments when it is added. OpenAI's own calls do not. */
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

/** Returns the command events of a shell call. They identify the item only by its index (API reference, 2026-11). */
function commandsAtEnd(item: JsonObject): readonly (readonly [type: string, members: JsonObject])[] {
  if (item['type'] !== 'shell_call') return [];
  return asArray(asObject(item['action'])['commands']).flatMap((command, command_index) => [
    ['response.shell_call_command.added', { command_index, command: '' }] as const,
    ['response.shell_call_command.delta', { command_index, delta: command }] as const,
    ['response.shell_call_command.done', { command_index, command }] as const,
  ]);
}

/** Returns the names of the events before an item's end. */
function progressAtEnd(item: JsonObject): readonly string[] {
  const kind = String(item['type']);
  if (!STARTS.has(kind)) return [];
  const error = item['error'] ?? null;
  const isFailed = item['status'] === 'failed' || error !== null;
  return [`response.${kind}.${isFailed && CAN_FAIL.has(kind) ? 'failed' : 'completed'}`];
}

/** Returns the events before an item's end. @param place of the item in the output */
export function eventsAtEnd(
  item: JsonObject,
  place: number,
): readonly (readonly [type: string, members: JsonObject])[] {
  const at = { output_index: place };
  const steps = progressAtEnd(item).map((type) => [type, { item_id: item['id'] ?? null, ...at }] as const);
  return [...steps, ...commandsAtEnd(item).map(([type, more]) => [type, { ...at, ...more }] as const)];
}

/** True for an event that `progressAtStart` or `progressAtEnd` writes. */
export function isProgress(type: string): boolean {
  const [, kind = '', step = ''] = type.split('.');
  const steps = STARTS.get(kind);
  return steps !== undefined && (step === 'completed' || step === 'failed' || steps.includes(step));
}
