// Encodes a collected answer as a `GenerateContentResponse`.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';
import type { CollectedEvents, Item } from '../../../canonical/index.ts';
import { requireFinish } from '../../errors/broken-answer.ts';
import { joinParagraphs } from '../../content/paragraphs.ts';
import type { AnswerContext } from '../../protocol.ts';
import { restOf } from '../../members/answer-rest.ts';
import { ANSWER_MEMBERS } from './answer-members.ts';
import { GroundingWriter } from './encode-grounding.ts';
import { encodeLogprobs } from './encode-logprobs.ts';
import { encodeUsage } from './encode-usage.ts';
import { encodeFinishReason } from './finish-reason.ts';
import { isHostedPart } from '../hosted-parts.ts';
import { PartWriter } from './part-writer.ts';

interface Draft {
  readonly parts: PartWriter;
  readonly grounding: GroundingWriter;
  readonly logprobs: JsonValue[];
  text: string;
  hasRefusal: boolean;
  /** Message about a refusal, if it is not model output. Null: a refusal is content. */
  refusal: string | null;
}

/**
 * Encodes a whole answer.
 * @throws GatewayError the answer's own error, or `upstream_unavailable` if it never finished
 */
export function encodeResponse(events: CollectedEvents, context: AnswerContext): JsonObject {
  const finish = requireFinish(events);
  const { reason, raw } = finish;
  const { request } = context;
  const written: JsonObject[] = [];
  const parts = new PartWriter((part) => written.push(part), request.reasoning.exclude !== true);
  const draft: Draft = {
    parts,
    grounding: new GroundingWriter(),
    logprobs: [],
    text: '',
    hasRefusal: false,
    refusal: reason === 'refusal' ? '' : null,
  };
  for (const item of events.items) addItem(draft, item);
  if (parts.isSigning || written.length === 0) written.push(parts.last());

  const rest = restOf(finish, ANSWER_MEMBERS);
  draft.grounding.addOwn(rest.element);
  const candidate: MutableJsonObject = {
    content: { parts: written, role: 'model' },
    finishReason: encodeFinishReason(reason, raw, draft.hasRefusal),
    index: 0,
    ...(draft.refusal && { finishMessage: draft.refusal }),
    ...rest.element,
    ...draft.grounding.members(draft.text),
  };
  if (request.logprobs === true && draft.logprobs.length > 0)
    candidate['logprobsResult'] = encodeLogprobs(draft.logprobs);
  return {
    ...rest.outer,
    candidates: [candidate],
    ...(events.usage ? { usageMetadata: encodeUsage(events.usage, context.costUsd) } : {}),
    modelVersion: context.model,
    responseId: context.id,
  };
}

function addItem(draft: Draft, item: Item): void {
  switch (item.type) {
    case 'message':
      for (const part of item.parts) {
        const text = part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : '';
        if (part.type === 'text') {
          for (const annotation of part.annotations ?? []) draft.grounding.add(annotation, draft.text.length);
          for (const logprob of part.logprobs ?? []) draft.logprobs.push(logprob);
        }
        if (part.type === 'refusal' && draft.refusal !== null) {
          draft.refusal += text;
          continue;
        }
        draft.parts.text(text);
        draft.text += text;
        if (part.type === 'refusal' && text !== '') draft.hasRefusal = true;
      }
      return;
    case 'reasoning': {
      const text = joinParagraphs([...item.summary, ...item.text]);
      draft.parts.thought(text, item.opaque, text !== '');
      return;
    }
    case 'tool_call':
      draft.parts.call(item);
      return;
    case 'hosted_call':
      if (item.facts?.type === 'image') draft.parts.picture(item.facts, item.source);
      else if (item.source && isHostedPart(item.kind)) draft.parts.raw(item.source);
      else draft.grounding.addWork(item.facts);
      return;
    case 'unknown':
      draft.parts.raw(item.source);
      return;
    // Gemini's protocol cannot express these.
    case 'tool_result':
    case 'compaction':
    case 'reference':
      return;
  }
}
