// Items of an answer as content blocks for clients. Owns the shapes of thinking, calls and hosted work; must not know
// whether the answer is streamed.
import type { JsonObject } from '../../../base/json/index.ts';
import type { ReasoningItem, Source, ToolCallItem } from '../../../canonical/index.ts';
import { joinParagraphs } from '../../paragraphs.ts';
import { CLAUDE_REASONING, encodeHidden } from '../foreign-reasoning.ts';
import type { HiddenReasoning } from '../foreign-reasoning.ts';

/**
 * How an item ends, once its text is known: the signature of its `thinking` block, a block that only hides it, or
 * nothing at all. A client must have a signature to give thinking back, so there is one also where no model signed.
 * @param hasText true when the client sees text
 */
export function sealReasoning(
  hidden: HiddenReasoning,
  hasText: boolean,
): { readonly signature: string } | { readonly redacted: JsonObject } | undefined {
  const { opaque } = hidden;
  const isClaudes = opaque?.format === CLAUDE_REASONING;
  if (isClaudes && opaque.kind === 'signature') return { signature: opaque.data };
  if (hasText) return { signature: encodeHidden(hidden) };
  if (opaque === undefined) return undefined;
  return {
    redacted: { type: 'redacted_thinking', data: isClaudes ? opaque.data : encodeHidden(hidden) },
  };
}

/**
 * The block of a reasoning item; undefined when there is nothing in it.
 * @param exclude true: the text is withheld, its signature is not (`display: "omitted"`)
 */
export function encodeReasoning(item: ReasoningItem, exclude: boolean): JsonObject | undefined {
  const isSummary = item.text.length === 0;
  const text = joinParagraphs([...item.summary, ...item.text]);
  const thinking = exclude ? '' : text;
  const { format, opaque, id } = item;
  const seal = sealReasoning({ format, opaque, id, isSummary }, thinking !== '');
  if (seal === undefined) return undefined;
  return 'redacted' in seal ? seal.redacted : { type: 'thinking', thinking, signature: seal.signature };
}

/** Called by the model itself, not by code that it wrote (SDK type `DirectCaller`). */
export const DIRECT: JsonObject = { type: 'direct' };

/** Members of a call's block that are not its arguments; those of the raw form come last. */
export function callMembers(call: Pick<ToolCallItem, 'callId' | 'name' | 'source'>): JsonObject {
  const { type: _type, id: _id, name: _name, input: _input, ...rest } = ownBlock(call.source) ?? {};
  return { type: 'tool_use', id: call.callId, name: call.name, input: {}, caller: DIRECT, ...rest };
}

/** The raw block of what only this protocol knows; undefined for another protocol's, which has no place here. */
export function ownBlock(source: Source | undefined): JsonObject | undefined {
  return source?.protocol === 'anthropic-messages' ? source.raw : undefined;
}
