// Encodes the body of a Converse request, streamed or not: model and mode are in the path. Conversation, tools and
// reasoning have files of their own.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import { type CanonicalRequest, type Report, type Target, TEXTS } from '../../../canonical/index.ts';
import { asObject } from '../../../base/json/index.ts';
import { constrainedFormat } from '../../members/constrain-schema.ts';
import { dropEndUser } from '../../end-user.ts';
import { refusedPrefill } from '../../content/prefill.ts';
import { encodeConversation } from './encode-conversation.ts';
import { encodeReasoning } from './encode-reasoning.ts';
import { encodeTools } from './encode-tools.ts';

/** Tokens for the answer in addition to a thinking budget, if no limit is known. */
const ANSWER_ROOM = 8192;

/**
 * Encodes the upstream body.
 * @throws GatewayError `unsupported` naming the path, for content that Bedrock does not accept, and for a prefill that
 * the model refuses
 */
export function encodeRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject {
  if (request.prefill && target.quirks.prefill === 'none') throw refusedPrefill(request);
  const scope = { target, report };
  const { system, turns } = encodeConversation(request.items, scope);
  const toolConfig = encodeTools(request, scope);
  const maxTokens = encodeMaxTokens(request, target, report);
  const additional = encodeReasoning(request, target, maxTokens, report);
  const isThinking = asObject(additional['thinking'])['type'] !== 'disabled' && 'thinking' in additional;

  const body: MutableJsonObject = { messages: turns.map(({ role, content }) => ({ role, content })) };
  if (system.length > 0) body['system'] = system;
  const inference: MutableJsonObject = { maxTokens, ...encodeSampling(request, target, isThinking, report) };
  if (request.stop && request.stop.length > 0) inference['stopSequences'] = request.stop;
  if (Object.values(inference).some((value) => value !== undefined)) body['inferenceConfig'] = inference;
  if (toolConfig !== undefined) body['toolConfig'] = toolConfig;
  const textFormat = request.responseFormat && encodeFormat(request, target, report);
  if (textFormat !== undefined) body['outputConfig'] = { textFormat };
  if (Object.keys(additional).length > 0) body['additionalModelRequestFields'] = additional;
  dropEndUser(request, 'Bedrock does not support user ids', report);
  for (const key in request.extra) report.add(key, 'dropped', 'Bedrock does not support this field');
  return body;
}

/** Returns the output limit. A thinking budget requires one above it, so the model's own is used if the client sent none. */
function encodeMaxTokens(request: CanonicalRequest, target: Target, report: Report): number | undefined {
  const { maxOutputTokens } = request;
  const { maxOutputTokens: ceiling, reasoning } = target;
  if (maxOutputTokens !== undefined) {
    if (ceiling === null || maxOutputTokens <= ceiling) return maxOutputTokens;
    report.add('max_completion_tokens', 'clamped', TEXTS.writesAtMost(ceiling));
    return ceiling;
  }
  const budget = reasoning.mode === 'on' ? reasoning.budgetTokens : undefined;
  return budget === undefined ? undefined : (ceiling ?? budget + ANSWER_ROOM);
}

function encodeSampling(
  request: CanonicalRequest,
  { quirks }: Target,
  isThinking: boolean,
  report: Report,
): MutableJsonObject {
  let { temperature, topP } = request;
  if (temperature !== undefined && temperature > 1) {
    report.add('temperature', 'clamped', 'the maximum temperature of Bedrock is 1');
    temperature = 1;
  }
  if (isThinking) {
    if (temperature !== undefined && temperature !== 1)
      report.add('temperature', 'dropped', TEXTS.thinkingTemperature);
    if (topP !== undefined && topP !== 1)
      report.add('top_p', 'dropped', 'Claude does not support this top_p when it thinks');
    return {};
  }
  if (!quirks.pairedSampling && temperature !== undefined && topP !== undefined) {
    // 1 is the default of both, so it can be omitted.
    if (topP !== 1) report.add('top_p', 'dropped', TEXTS.oneSampling);
    topP = undefined;
  }
  return { temperature, topP };
}

/** Encodes a schema as a string (API reference `JsonSchemaDefinition`), in the subset that Anthropic also enforces. */
function encodeFormat(request: CanonicalRequest, target: Target, report: Report): JsonObject | undefined {
  const format = constrainedFormat(request, target, 'Bedrock', report);
  if (!format) return undefined;
  const { name, description, schema } = format;
  const jsonSchema = {
    name,
    schema: JSON.stringify(schema),
    ...(description === undefined ? {} : { description }),
  };
  return { type: 'json_schema', structure: { jsonSchema } };
}
