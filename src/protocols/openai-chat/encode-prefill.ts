// How a target is told to continue the last message instead of answering it. Must not know whose text it is.
import type { MutableJsonObject, Quirks } from '../../canonical/index.ts';
import { asArray, GatewayError, isJsonObject } from '../../canonical/index.ts';

/**
 * Marks the last message, one of the assistant, as the beginning of the answer. Sources: Mistral, API reference,
 * `AssistantMessage.prefix`; Moonshot and DashScope, "Partial Mode"; vLLM, "Extra parameters" (all 2026).
 * @param body with its `messages`
 * @throws GatewayError `unsupported` where the target would begin a new answer
 */
export function encodePrefill(body: MutableJsonObject, style: Quirks['prefill']): void {
  const messages = asArray(body['messages']);
  const last = messages.at(-1);
  if (style === 'none' || !isJsonObject(last) || last['role'] !== 'assistant')
    throw new GatewayError('unsupported', 'the upstream cannot continue a text');
  if (style === 'continue_final_message') {
    body['continue_final_message'] = true;
    body['add_generation_prompt'] = false;
  } else if (style !== 'plain') body['messages'] = [...messages.slice(0, -1), { ...last, [style]: true }];
}
