// A whole interaction, where the upstream answered in another form than was asked for.
import { isJsonObject, parseJson } from '../../../base/json/index.ts';
import { inputTokens, outputTokens } from '../../../canonical/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type { CollectedEvents, Item, Usage } from '../../../canonical/index.ts';
import { requireFinish } from '../../broken-answer.ts';
import type { AnswerContext } from '../../protocol.ts';
import { encodeStatus } from './interaction-status.ts';

/** The body of an answer. Throws GatewayError where the answer failed. */
export function encodeResponse(events: CollectedEvents, context: AnswerContext): JsonObject {
  const { reason, raw } = requireFinish(events);
  return {
    ...encodeEnvelope(context),
    status: encodeStatus(reason, raw),
    steps: events.items.map(encodeStep),
    ...encodeUsage(events.usage),
  };
}

/** Members that name the interaction and who answers. */
export function encodeEnvelope({ id, model, request }: AnswerContext): JsonObject {
  const { follows } = request;
  return {
    id,
    [request.raw['agent'] === undefined ? 'model' : 'agent']: model,
    object: 'interaction',
    ...(follows && { previous_interaction_id: follows.id }),
  };
}

/** The upstream's own counts; where it has none, those of the gateway. */
export function encodeUsage(usage: Usage | undefined): JsonObject {
  if (!usage) return {};
  const own = usage.raw ?? {
    total_input_tokens: inputTokens(usage),
    total_output_tokens: usage.output.text + usage.output.audio,
    total_thought_tokens: usage.output.reasoning,
    total_tokens: inputTokens(usage) + outputTokens(usage),
  };
  return { usage: own };
}

function encodeStep(item: Item): JsonObject {
  if (item.source?.protocol === 'gemini-interactions') return item.source.raw;
  switch (item.type) {
    case 'message': {
      const content = item.parts.flatMap((part) =>
        part.type === 'text' ? [{ type: 'text', text: part.text }] : [],
      );
      return { type: 'model_output', content };
    }
    case 'reasoning': {
      const summary = item.summary.map((text) => ({ type: 'text', text }));
      return { type: 'thought', summary, ...(item.opaque && { signature: item.opaque.data }) };
    }
    case 'tool_call':
      return {
        type: 'function_call',
        id: item.callId,
        name: item.name,
        arguments: argumentsOf(item.arguments),
      };
    default:
      return { type: item.type };
  }
}

function argumentsOf(text: string): JsonObject {
  const json = parseJson(text);
  return isJsonObject(json) ? json : {};
}
