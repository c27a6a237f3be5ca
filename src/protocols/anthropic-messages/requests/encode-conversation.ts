// Encodes items as `system` and alternating `messages`, following Anthropic's rules for turns and the order of blocks.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import {
  type Item,
  type MessageItem,
  type ReasoningItem,
  type TextPart,
  TEXTS,
  type ToolCallItem,
  type ToolResultItem,
  unresolvedReference,
} from '../../../canonical/index.ts';
import { encodeCallInput } from '../../calls/call-input.ts';
import { ToolUseIds } from '../../calls/call-ids.ts';
import { encodePart, type EncodeScope, markCache, ownRaw } from './encode-parts.ts';
import { PLAIN_TEXT } from '../member-shapes.ts';

/** `system`: instructions inside the conversation, which newer models support. */
type TurnRole = 'user' | 'assistant' | 'system';
/** A message. A type alias instead of an interface, so that it is assignable to a JSON object. */
export type Turn = {
  readonly role: TurnRole;
  readonly content: MutableJsonObject[];
};
export interface Conversation {
  readonly system: MutableJsonObject[];
  readonly turns: Turn[];
}

interface Draft {
  readonly role: TurnRole;
  readonly path: string;
  /** True: instructions from another protocol, which must follow Anthropic's rules of position. */
  readonly isForeign: boolean;
  /** Tool results, which come first in their message, whatever the client's order. */
  readonly results: MutableJsonObject[];
  readonly blocks: MutableJsonObject[];
}

/** Placeholder for text that Anthropic requires and the client did not send. */
const EMPTY_TEXT = '(empty)';
const OPENING_TEXT = TEXTS.assistantOpens;

/** Groups the items of a request into turns, keeping the order of thinking, text and calls. */
export function encodeConversation(items: readonly Item[], scope: EncodeScope): Conversation {
  const system: MutableJsonObject[] = [];
  const drafts: Draft[] = [];
  const ids = new ToolUseIds(scope.report, 'Anthropic');
  items.forEach((item, position) => {
    const path = item.path ?? `items[${position}]`;
    switch (item.type) {
      case 'message':
        return encodeMessage(item, path, system, drafts, scope);
      case 'reasoning':
        return encodeReasoning(item, path, drafts, scope);
      case 'tool_call':
        draft(drafts, 'assistant', path).blocks.push(encodeCall(item, path, ids, scope));
        return;
      case 'tool_result': {
        const turn = draft(drafts, 'user', path);
        if (turn.blocks.length > 0) {
          scope.report.add(path, 'approximated', TEXTS.resultsMoved);
        }
        turn.results.push(encodeResult(item, path, ids, scope));
        return;
      }
      case 'reference':
        throw unresolvedReference(item);
      default: {
        const raw = ownRaw(item.source);
        if (raw) draft(drafts, 'assistant', path).blocks.push(raw);
        else scope.report.add(path, 'dropped', `Anthropic does not support items of type ${item.type}`);
      }
    }
  });
  return { system, turns: finishTurns(drafts, system, scope) };
}

function encodeMessage(
  item: MessageItem,
  path: string,
  system: MutableJsonObject[],
  drafts: Draft[],
  scope: EncodeScope,
): void {
  if (item.name !== undefined)
    scope.report.add(`${path}.name`, 'dropped', 'Anthropic does not support names on messages');
  const instructs = item.role === 'system' || item.role === 'developer';
  const isOwn = ownRaw(item.source) !== undefined;
  const hasPlace = scope.target.quirks.laterInstructions && drafts.at(-1)?.role !== 'assistant';
  const staysInPlace = instructs && drafts.length > 0 && (isOwn || hasPlace);
  if (instructs && drafts.length > 0 && !staysInPlace) reportAppended(path, scope);
  const role = instructs ? 'system' : item.role === 'assistant' ? 'assistant' : 'user';
  const blocks = instructs && !staysInPlace ? system : draft(drafts, role, path, instructs && !isOwn).blocks;
  const before = blocks.length;
  item.parts.forEach((part, position) => {
    const partPath = part.path ?? `${path}.content[${position}]`;
    const textOnly = item.role !== 'user';
    if (textOnly && (part.type === 'image' || part.type === 'file')) {
      scope.report.add(
        partPath,
        'dropped',
        `Anthropic does not support ${part.type} parts in messages of the role ${item.role}`,
      );
      return;
    }
    const block = encodePart(part, partPath, scope);
    if (block !== undefined) blocks.push(block);
  });
  if (item.cache === undefined) return;
  const last = blocks.length > before ? blocks.at(-1) : undefined;
  if (last === undefined) scope.report.add(`${path}.cache_control`, 'dropped', 'the message has no content');
  else markCache(last, item.cache, path, scope);
}

/** Encodes reasoning. It is sent only to the family that signed it, unchanged, and never converted to text. */
function encodeReasoning(item: ReasoningItem, path: string, drafts: Draft[], scope: EncodeScope): void {
  const { opaque } = item;
  if (opaque === undefined) {
    scope.report.add(path, 'dropped', 'unsigned reasoning cannot be sent back to Claude');
    return;
  }
  if (opaque.format !== scope.target.reasoningFormat) {
    scope.report.add(path, 'dropped', TEXTS.otherReasoning(opaque.format));
    return;
  }
  if (item.cache)
    scope.report.add(`${path}.cache_control`, 'dropped', 'thinking blocks do not support cache breakpoints');
  draft(drafts, 'assistant', path).blocks.push(
    opaque.kind === 'encrypted'
      ? { type: 'redacted_thinking', data: opaque.data }
      : { type: 'thinking', thinking: item.text.join(''), signature: opaque.data },
  );
}

function encodeCall(
  item: ToolCallItem,
  path: string,
  ids: ToolUseIds,
  scope: EncodeScope,
): MutableJsonObject {
  const id = ids.call(item.callId, path);
  const block: MutableJsonObject = {
    ...ownRaw(item.source),
    type: 'tool_use',
    id,
    name: item.name,
    input: encodeCallInput(item, path, scope.report),
  };
  markCache(block, item.cache, path, scope);
  return block;
}

function encodeResult(
  item: ToolResultItem,
  path: string,
  ids: ToolUseIds,
  scope: EncodeScope,
): MutableJsonObject {
  const block: MutableJsonObject = {
    ...ownRaw(item.source),
    type: 'tool_result',
    tool_use_id: ids.result(item.callId, path),
  };
  block['content'] = resultContent(item, path, block, scope);
  if (item.isError === true) block['is_error'] = true;
  markCache(block, item.cache, path, scope);
  return block;
}

/**
 * Encodes the content of a result. A single text stays a string, which may be empty. Breakpoints of the parts move to
 * the result, at its end.
 */
function resultContent(
  item: ToolResultItem,
  path: string,
  result: MutableJsonObject,
  scope: EncodeScope,
): string | JsonObject[] {
  const [only] = item.parts;
  if (only === undefined) return '';
  if (item.parts.length === 1 && only.type === 'text' && isPlain(only)) {
    markCache(result, only.cache, only.path ?? path, scope);
    return only.text;
  }
  const content: MutableJsonObject[] = [];
  item.parts.forEach((part, position) => {
    const partPath = part.path ?? `${path}.content[${position}]`;
    const block = encodePart(part, partPath, scope);
    if (block === undefined) return;
    if (part.cache !== undefined) {
      delete block['cache_control'];
      markCache(result, part.cache, partPath, scope);
      if (position < item.parts.length - 1) {
        scope.report.add(
          `${partPath}.cache_control`,
          'approximated',
          'the breakpoint was moved to the end of the tool result',
        );
      }
    }
    content.push(block);
  });
  return content.length > 0 ? content : '';
}

/** False for a text that represents a block with more members: a document or a search result. */
function isPlain(part: TextPart): boolean {
  const raw = ownRaw(part.source);
  return raw === undefined || Object.keys(raw).every((name) => PLAIN_TEXT.known.has(name));
}

/** Returns the draft for the next block of a role: the last one, or a new one if that has another role. */
function draft(drafts: Draft[], role: TurnRole, path: string, isForeign = false): Draft {
  const last = drafts.at(-1);
  if (last?.role === role) return last;
  const added: Draft = { role, path, isForeign, results: [], blocks: [] };
  drafts.push(added);
  return added;
}

/** Applies Anthropic's rules for the list: it begins with the user, alternates, and has no empty messages. */
function finishTurns(drafts: readonly Draft[], system: MutableJsonObject[], scope: EncodeScope): Turn[] {
  const turns = placeInstructions(mergeDrafts(drafts, scope), system, scope).map(
    ({ role, path, results, blocks }): Turn => {
      const content = results.length > 0 ? [...results, ...blocks] : blocks;
      if (content.length === 0) {
        content.push({ type: 'text', text: EMPTY_TEXT });
        scope.report.add(path, 'approximated', `Anthropic rejects empty messages; "${EMPTY_TEXT}" is sent`);
      }
      return { role, content };
    },
  );
  trimPrefill(turns, drafts, scope);
  if (turns[0]?.role === 'assistant' && !scope.target.quirks.assistantFirst) {
    turns.unshift({ role: 'user', content: [{ type: 'text', text: OPENING_TEXT }] });
    scope.report.add(
      'messages',
      'approximated',
      `this server requires a user message first; "${OPENING_TEXT}" is added`,
    );
  }
  if (turns.length === 0) {
    const content = system.length > 0 ? system.splice(0) : [{ type: 'text', text: EMPTY_TEXT }];
    turns.push({ role: 'user', content });
    scope.report.add(
      'messages',
      'approximated',
      'Anthropic requires a user message; the instructions are sent as one',
    );
  }
  return turns;
}

/**
 * Keeps instructions only where Anthropic accepts them: after a user message and before an assistant message, or at the
 * end (documentation "Mid-conversation system messages", 2026-11). Others are appended to the system prompt.
 */
function placeInstructions(
  drafts: readonly Draft[],
  system: MutableJsonObject[],
  scope: EncodeScope,
): readonly Draft[] {
  const isMisplaced = (each: Draft, index: number): boolean =>
    each.role === 'system' &&
    each.isForeign &&
    (each.blocks.length === 0 || drafts[index + 1]?.role === 'user');
  const misplaced = drafts.filter(isMisplaced);
  if (misplaced.length === 0) return drafts;
  for (const { blocks, path } of misplaced) {
    if (blocks.length > 0) reportAppended(path, scope);
    system.push(...blocks);
  }
  return mergeDrafts(
    drafts.filter((each) => !misplaced.includes(each)),
    scope,
  );
}

function reportAppended(path: string, { report }: EncodeScope): void {
  report.add(path, 'approximated', TEXTS.instructionsMoved);
}

/**
 * Removes empty assistant turns and joins their neighbours. An empty user turn stays, because it makes it the
 * assistant's turn.
 */
function mergeDrafts(drafts: readonly Draft[], scope: EncodeScope): Draft[] {
  const merged: Draft[] = [];
  for (const next of drafts) {
    if (next.role === 'assistant') {
      dropTrailingThinking(next.blocks, next.path, scope);
      if (next.blocks.length === 0) continue;
    }
    const last = merged.at(-1);
    if (last?.role !== next.role) {
      merged.push(next);
      continue;
    }
    last.results.push(...next.results);
    last.blocks.push(...next.blocks);
  }
  return merged;
}

/** Removes thinking at the end of an assistant message, which Anthropic refuses: the turn was cut before its content. */
function dropTrailingThinking(content: MutableJsonObject[], path: string, scope: EncodeScope): void {
  while (isThinking(content.at(-1))) {
    content.pop();
    scope.report.add(path, 'dropped', 'Anthropic rejects an assistant turn that ends with thinking');
  }
}

/** Trims a prefill, a final assistant message, because it must not end in white space. */
function trimPrefill(turns: Turn[], drafts: readonly Draft[], scope: EncodeScope): void {
  const last = turns.at(-1);
  const block = last?.role === 'assistant' ? last.content.at(-1) : undefined;
  const text = block?.['text'];
  if (block === undefined || block['type'] !== 'text' || typeof text !== 'string') return;
  const trimmed = text.trimEnd();
  if (trimmed === text) return;
  block['text'] = trimmed;
  scope.report.add(
    drafts.at(-1)?.path ?? 'messages',
    'approximated',
    'trailing white space of the prefill was removed',
  );
}

/** True for a block of signed or redacted thinking. */
export function isThinking(block: JsonObject | undefined): boolean {
  return block?.['type'] === 'thinking' || block?.['type'] === 'redacted_thinking';
}
