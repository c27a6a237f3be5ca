// A content block of an answer while it arrives, and its raw form for clients of this protocol.
import { asObject, type JsonObject, type MutableJsonObject, parseJson } from '../../../base/json/index.ts';
import type { Source } from '../../../canonical/index.ts';
import { ANSWERED_CALL } from '../member-shapes.ts';
import { messagesSource } from '../requests/decode-scope.ts';

/** Index of a block's item before its first content. */
export const UNOPENED = -1;

export interface Block {
  readonly kind: 'text' | 'thinking' | 'tool_use' | 'raw';
  readonly raw: JsonObject;
  /** Index of its item; UNOPENED until there is content. */
  item: number;
  /** Part of the message item, for text. */
  part: number;
  /** UTF-16 length of the text so far. */
  chars: number;
  citations: JsonObject[] | undefined;
  signature: string;
  /** JSON of a tool's input so far. */
  json: string;
  /** Members from deltas of undocumented types. */
  patch: MutableJsonObject | undefined;
  /** Undocumented frames before the first content. */
  early: JsonObject[];
}

export function newBlock(kind: Block['kind'], raw: JsonObject): Block {
  return {
    kind,
    raw,
    item: UNOPENED,
    part: 0,
    chars: 0,
    citations: undefined,
    signature: '',
    json: '',
    patch: undefined,
    early: [],
  };
}

export function blockKind(type: string): Block['kind'] {
  switch (type) {
    case 'text':
      return 'text';
    case 'thinking':
    case 'redacted_thinking':
      return 'thinking';
    case 'tool_use':
      return 'tool_use';
    default:
      return 'raw';
  }
}

/** Returns the raw form of a call with more members than the item holds. A direct `caller` does not count. */
export function toolSource(block: Block): Source | undefined {
  for (const key in block.raw) {
    const isPlain = key === 'caller' && asObject(block.raw[key])['type'] === 'direct';
    if (!isPlain && !ANSWERED_CALL.known.has(key)) return messagesSource(finalRaw(block));
  }
  return undefined;
}

/** Returns a frame whose content was already taken from its delta. Only members that no event holds remain. */
export function withoutContent(frame: JsonObject, delta: JsonObject, held: string): JsonObject {
  const { [held]: _taken, ...rest } = delta;
  return { ...frame, delta: delta['type'] === 'citations_delta' ? rest : { ...rest, [held]: '' } };
}

export function finalRaw(block: Block): JsonObject {
  if (block.json === '' && block.patch === undefined) return block.raw;
  const raw: MutableJsonObject = { ...block.raw, ...block.patch };
  if (block.json !== '') raw['input'] = parseJson(block.json) ?? block.json;
  return raw;
}

/** Applies a delta of an undocumented type to the block: strings are appended, other values replaced. */
export function patchBlock(block: Block, delta: JsonObject): void {
  block.patch ??= {};
  for (const key in delta) {
    const value = delta[key];
    if (key === 'type' || value === null || value === undefined) continue;
    const before = block.patch[key] ?? block.raw[key];
    block.patch[key] = typeof before === 'string' && typeof value === 'string' ? before + value : value;
  }
}
