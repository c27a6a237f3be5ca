// The events by which the API tells the progress of tools that it runs itself. They say nothing that the items do not
// say, so they are written with the items, whoever ran the tool. API reference, "Streaming events".
import { asArray, asObject, type JsonObject } from '../../../base/json/index.ts';

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

/** Events with the commands of a shell call, which name no item but its place (API reference, 2026-11). */
function commandsAtEnd(item: JsonObject): readonly (readonly [type: string, members: JsonObject])[] {
  if (item['type'] !== 'shell_call') return [];
  return asArray(asObject(item['action'])['commands']).flatMap((command, command_index) => [
    ['response.shell_call_command.added', { command_index, command: '' }] as const,
    ['response.shell_call_command.delta', { command_index, delta: command }] as const,
    ['response.shell_call_command.done', { command_index, command }] as const,
  ]);
}

/** Names of the events that come before the end of an item. */
function progressAtEnd(item: JsonObject): readonly string[] {
  const kind = String(item['type']);
  if (!STARTS.has(kind)) return [];
  const error = item['error'] ?? null;
  const isFailed = item['status'] === 'failed' || error !== null;
  return [`response.${kind}.${isFailed && CAN_FAIL.has(kind) ? 'failed' : 'completed'}`];
}

/** The events that come before the end of an item. @param place of the item in the output */
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
