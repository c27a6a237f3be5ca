// Encodes items of an answer as content blocks, for streamed and whole answers: thinking, calls and hosted work.
import type { JsonObject } from '../../../base/json/index.ts';
import type { ReasoningItem, Source, ToolCallItem } from '../../../canonical/index.ts';
import { joinParagraphs } from '../../content/paragraphs.ts';
import { CLAUDE_REASONING, encodeHidden } from '../foreign-reasoning.ts';
import type { HiddenReasoning } from '../foreign-reasoning.ts';

/**
 * Returns the end of a reasoning item: the signature of its `thinking` block, a `redacted_thinking` block, or nothing.
 * Clients return only signed thinking, so a signature is written even if no model signed it.
 * @param hasText true if the client sees text
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
 * Returns the block of a reasoning item; undefined if it is empty.
 * @param exclude true: the text is withheld, but not its signature (`display: "omitted"`)
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

/** Caller of a direct call: the model itself, not code that it wrote (SDK type `DirectCaller`). */
export const DIRECT: JsonObject = { type: 'direct' };

/** Returns the members of a call's block, except its arguments. Those of the raw form come last. */
export function callMembers(call: Pick<ToolCallItem, 'callId' | 'name' | 'source'>): JsonObject {
  const { type: _type, id: _id, name: _name, input: _input, ...rest } = ownBlock(call.source) ?? {};
  return { type: 'tool_use', id: call.callId, name: call.name, input: {}, caller: DIRECT, ...rest };
}

/** Returns the raw block of this protocol; undefined for another protocol's, which cannot be expressed here. */
export function ownBlock(source: Source | undefined): JsonObject | undefined {
  return source?.protocol === 'anthropic-messages' ? source.raw : undefined;
}
