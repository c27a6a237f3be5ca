// Encodes a whole interaction, if the upstream streamed although a whole answer was requested.
import { isJsonObject, parseJson } from '../../../base/json/index.ts';
import { inputTokens, outputTokens } from '../../../canonical/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type { CollectedEvents, Item, Usage } from '../../../canonical/index.ts';
import { requireFinish } from '../../errors/broken-answer.ts';
import type { AnswerContext } from '../../protocol.ts';
import { encodeStatus } from './interaction-status.ts';

/** Encodes the body of an answer. @throws GatewayError if the answer failed */
export function encodeResponse(events: CollectedEvents, context: AnswerContext): JsonObject {
  const { reason, raw } = requireFinish(events);
  return {
    ...encodeEnvelope(context),
    status: encodeStatus(reason, raw),
    steps: events.items.map(encodeStep),
    ...encodeUsage(events.usage),
  };
}

/** Returns the members that identify the interaction and its model or agent. */
export function encodeEnvelope({ id, model, request }: AnswerContext): JsonObject {
  const { follows } = request;
  return {
    id,
    [request.raw['agent'] === undefined ? 'model' : 'agent']: model,
    object: 'interaction',
    ...(follows && { previous_interaction_id: follows.id }),
  };
}

/** Returns the upstream's own counts, or those of the gateway. */
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
