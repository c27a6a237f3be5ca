// How a target is told to continue the last message instead of answering it. Must not know whose text it is.
import type { MutableJsonObject } from '../../base/json/index.ts';
import type { CanonicalRequest } from '../../canonical/index.ts';
import { asArray, isJsonObject } from '../../base/json/index.ts';
import { reportPrefill } from '../prefill.ts';
import type { EncodeContext } from './encode-context.ts';

/**
 * Marks the last message, one of the assistant, as the beginning of the answer. Sources: Mistral, API reference,
 * `AssistantMessage.prefix`; Moonshot and DashScope, "Partial Mode"; vLLM, "Extra parameters" (all 2026). A target that
 * has no mark for it gets the message as it is, and may begin a new answer: that is reported.
 * @param body with its `messages`
 */
export function encodePrefill(
  body: MutableJsonObject,
  request: CanonicalRequest,
  { target, report }: EncodeContext,
): void {
  const style = target.quirks.prefill;
  const messages = asArray(body['messages']);
  const last = messages.at(-1);
  if (style === 'none' || !isJsonObject(last) || last['role'] !== 'assistant') {
    reportPrefill(request, report);
    return;
  }
  if (style === 'continue_final_message') {
    body['continue_final_message'] = true;
    body['add_generation_prompt'] = false;
  } else if (style !== 'plain') body['messages'] = [...messages.slice(0, -1), { ...last, [style]: true }];
}
