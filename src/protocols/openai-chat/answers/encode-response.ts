// Encodes a collected answer as a `chat.completion` object (OpenAI's schema `CreateChatCompletionResponse`, with
// reasoning members).
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';
import type { CollectedEvents, Item, Part } from '../../../canonical/index.ts';
import { requireFinish } from '../../errors/broken-answer.ts';
import { joinParagraphs } from '../../content/paragraphs.ts';
import type { AnswerContext } from '../../protocol.ts';
import { encodeAnnotation } from './encode-annotation.ts';
import { answerRestOf, extraMembers, putUpstreamFacts } from './encode-envelope.ts';
import { encodeFinishReason } from './finish-reason.ts';
import { encodeReasoningDetails, unknownDetail, visibleReasoning } from './encode-reasoning-details.ts';
import { encodeUsage } from './encode-usage.ts';
import { encodeWork } from './work-members.ts';

interface Draft {
  content: string;
  refusal: string;
  readonly annotations: JsonObject[];
  readonly logprobs: JsonValue[];
  readonly refusalLogprobs: JsonValue[];
  readonly reasoning: string[];
  readonly details: JsonObject[];
  readonly toolCalls: JsonObject[];
  readonly images: JsonObject[];
  audio: JsonObject | undefined;
  /** Undocumented members, if any. */
  extra: MutableJsonObject | undefined;
  /** Number of positions used in the turn. All text forms one message and uses one position. */
  position: number;
}

/**
 * Encodes a whole answer.
 * @throws GatewayError the answer's own error, or `upstream_unavailable` if it never finished
 */
export function encodeResponse(events: CollectedEvents, context: AnswerContext): JsonObject {
  const finish = requireFinish(events);
  const { request } = context;
  const draft: Draft = {
    content: '',
    refusal: '',
    annotations: [],
    logprobs: [],
    refusalLogprobs: [],
    reasoning: [],
    details: [],
    toolCalls: [],
    images: [],
    audio: undefined,
    extra: undefined,
    position: 0,
  };
  for (const item of events.items) addItem(draft, item);

  const emitted = { toolCalls: draft.toolCalls.length, refusal: draft.refusal !== '' };
  const hasText = draft.content !== '' || (emitted.toolCalls === 0 && !emitted.refusal);
  const documented = {
    role: 'assistant',
    content: hasText ? draft.content : null,
    refusal: draft.refusal || null,
    annotations: draft.annotations,
  };
  const rest = answerRestOf(finish);
  const message: MutableJsonObject =
    draft.extra || rest.unsaid ? { ...draft.extra, ...rest.unsaid, ...documented } : documented;
  if (request.reasoning.exclude !== true) addReasoning(message, draft, context.reasoningContentMirror);
  if (emitted.toolCalls > 0) message['tool_calls'] = draft.toolCalls;
  if (draft.images.length > 0) message['images'] = draft.images;
  if (draft.audio) message['audio'] = draft.audio;
  const logprobs =
    request.logprobs === true && draft.logprobs.length + draft.refusalLogprobs.length > 0
      ? { content: orNull(draft.logprobs), refusal: orNull(draft.refusalLogprobs) }
      : null;
  const finishReason = encodeFinishReason(finish.reason, emitted);
  const completion: MutableJsonObject = {
    ...rest.outer,
    id: context.id,
    object: 'chat.completion',
    created: context.createdSeconds,
    model: context.model,
    choices: [{ ...rest.element, index: 0, message, logprobs, finish_reason: finishReason }],
  };
  if (events.usage) completion['usage'] = encodeUsage(events.usage, context.costUsd);
  // Always present, as in OpenAI's own answers (null in 107 of 204 recorded ones). OpenRouter's SDK requires it.
  completion['system_fingerprint'] = null;
  putUpstreamFacts(completion, events.start);
  return completion;
}

function addItem(draft: Draft, item: Item): void {
  switch (item.type) {
    case 'message':
      for (const part of item.parts) addPart(draft, part);
      if (item.source) draft.extra = { ...draft.extra, ...extraMembers(item.source) };
      return;
    case 'reasoning': {
      const details = encodeReasoningDetails(item, draft.position);
      if (details.length === 0) return;
      draft.position++;
      draft.details.push(...details);
      draft.reasoning.push(visibleReasoning(item));
      return;
    }
    case 'tool_call': {
      const { callId: id, name } = item;
      draft.position++;
      draft.toolCalls.push(
        item.kind === 'custom'
          ? { ...extraMembers(item.source), id, type: 'custom', custom: { name, input: item.arguments } }
          : {
              ...extraMembers(item.source),
              id,
              type: 'function',
              function: { name, arguments: item.arguments },
            },
      );
      return;
    }
    case 'unknown': {
      const detail = unknownDetail(item);
      if (detail) draft.details.push(detail);
      return;
    }
    // Hosted tool calls are not calls for the client, but their result may have a member.
    case 'hosted_call': {
      const members = encodeWork(item.kind, item.source, item.facts);
      if (members && 'images' in members) draft.images.push(...members.images);
      else if (members) draft.audio = members.audio;
      return;
    }
    // Chat Completions has no members for these.
    case 'tool_result':
    case 'compaction':
    case 'reference':
      return;
  }
}

function addPart(draft: Draft, part: Part): void {
  const wasEmpty = draft.content === '' && draft.refusal === '';
  if (part.type === 'refusal') {
    draft.refusal += part.refusal;
    for (const logprob of part.logprobs ?? []) draft.refusalLogprobs.push(logprob);
  } else if (part.type === 'text') {
    for (const annotation of part.annotations ?? []) {
      const encoded = encodeAnnotation(annotation, draft.content.length);
      if (encoded) draft.annotations.push(encoded);
    }
    for (const logprob of part.logprobs ?? []) draft.logprobs.push(logprob);
    draft.content += part.text;
  }
  if (wasEmpty && (draft.content !== '' || draft.refusal !== '')) draft.position++;
}

function orNull(list: readonly JsonValue[]): readonly JsonValue[] | null {
  return list.length > 0 ? list : null;
}

function addReasoning(message: MutableJsonObject, draft: Draft, mirror: boolean): void {
  const text = joinParagraphs(draft.reasoning);
  if (text) message['reasoning'] = text;
  if (text && mirror) message['reasoning_content'] = text;
  if (draft.details.length > 0) message['reasoning_details'] = draft.details;
}
