// Checks that every output in a conversation, including stored turns, answers a call in it, as OpenAI does.
import { asString } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import type { Item } from '../../../canonical/index.ts';

/** Outputs of client tools other than functions, with the type of the call that each answers by `call_id`. */
const CALL_OF: ReadonlyMap<string, string> = new Map([
  ['computer_call_output', 'computer_call'],
  ['shell_call_output', 'shell_call'],
  ['apply_patch_call_output', 'apply_patch_call'],
]);

/** @throws GatewayError `invalid_request` for the first output without a call, with OpenAI's message */
export function requireCalls(items: readonly Item[]): void {
  const calls = new Set<string>();
  for (const item of items) {
    if (item.type === 'tool_call') calls.add(item.callId);
    else if (item.type === 'tool_result') {
      const what = item.kind === 'custom' ? 'custom tool call' : 'function call';
      if (!calls.has(item.callId)) throw noCall(what, item.callId);
    } else if (item.type === 'hosted_call' || item.type === 'unknown') {
      // Unknown kinds of calls have outputs as well.
      const raw = item.source?.raw;
      const id = asString(raw?.['call_id']);
      if (id === undefined) continue;
      const call = CALL_OF.get(String(raw?.['type']));
      if (call === undefined) calls.add(id);
      else if (!calls.has(id)) throw noCall(call.replaceAll('_', ' '), id);
    }
  }
}

function noCall(what: string, callId: string): GatewayError {
  const message = `No tool call found for ${what} output with call_id ${callId.slice(0, 100)}.`;
  return new GatewayError('invalid_request', message, { param: 'input' });
}
