// Encodes a collected answer as a `message` object.
import type { JsonObject } from '../../../base/json/index.ts';
import type { CollectedEvents, Item, Part } from '../../../canonical/index.ts';
import { NO_USAGE } from '../../../canonical/index.ts';
import { requireFinish } from '../../errors/broken-answer.ts';
import { restOf } from '../../members/answer-rest.ts';
import { callInput } from '../../calls/call-input.ts';
import type { AnswerContext } from '../../protocol.ts';
import { encodeCitation } from '../citations.ts';
import { ANSWER_MEMBERS } from './answer-members.ts';
import { callMembers, encodeReasoning, ownBlock } from './encode-blocks.ts';
import { encodeFacts, foreignId } from '../hosted-blocks.ts';
import { encodeEnvelope, encodeStop, showsRefusal } from './encode-envelope.ts';
import { encodeUsage } from './encode-usage.ts';

interface Draft {
  readonly content: JsonObject[];
  readonly exclude: boolean;
  toolCalls: number;
  refusal: string;
}

/**
 * Encodes a whole answer.
 * @throws GatewayError the answer's own error, or `upstream_unavailable` if it never finished
 */
export function encodeResponse(events: CollectedEvents, context: AnswerContext): JsonObject {
  const finish = requireFinish(events);
  const { items, usage } = events;
  const draft: Draft = {
    content: [],
    exclude: context.request.reasoning.exclude === true,
    toolCalls: 0,
    refusal: '',
  };
  items.forEach((item, index) => addItem(draft, item, foreignId(item, index, context)));
  const emitted = { toolCalls: draft.toolCalls, refusal: draft.refusal !== '' };
  const rest = restOf(finish, ANSWER_MEMBERS);
  if (showsRefusal(finish, emitted)) draft.content.push({ type: 'text', text: draft.refusal });
  return {
    ...encodeEnvelope(context, draft.content),
    ...encodeStop(finish, emitted, draft.refusal),
    usage: encodeUsage(usage ?? NO_USAGE, context.costUsd),
    ...rest.outer,
    ...rest.element,
  };
}

/** @param foreignId id for the blocks of another vendor's work */
function addItem(draft: Draft, item: Item, foreignId: string): void {
  switch (item.type) {
    case 'message':
      for (const part of item.parts) addPart(draft, part);
      return;
    case 'reasoning': {
      const block = encodeReasoning(item, draft.exclude);
      if (block) draft.content.push(block);
      return;
    }
    case 'tool_call':
      draft.toolCalls++;
      draft.content.push({ ...callMembers(item), input: callInput(item) });
      return;
    case 'hosted_call':
    case 'unknown': {
      const block = ownBlock(item.source);
      if (block) draft.content.push(block);
      else if (item.type === 'hosted_call' && item.facts)
        draft.content.push(...encodeFacts(item.facts, foreignId));
      return;
    }
    // The Messages API cannot express these.
    case 'compaction':
    case 'tool_result':
    case 'reference':
      return;
  }
}

function addPart(draft: Draft, part: Part): void {
  if (part.type === 'refusal') {
    draft.refusal += part.refusal;
    return;
  }
  if (part.type !== 'text') return;
  const citations = (part.annotations ?? []).flatMap((annotation) => {
    const citation = encodeCitation(annotation, part.text);
    return citation ? [citation] : [];
  });
  if (part.text === '' && citations.length === 0) return;
  draft.content.push({
    type: 'text',
    text: part.text,
    // Anthropic omits the member without citations, and some clients refuse `null`.
    ...(citations.length > 0 && { citations }),
  });
}
