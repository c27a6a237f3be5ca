// Encodes one item of an answer as an output item of the Responses API, and assigns its id. Streams and whole answers
// share these pure functions.
import { asArray, isJsonObject, unknownMembers } from '../../../base/json/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type { Annotation, Item, OpenItem, Part, Source } from '../../../canonical/index.ts';
import type { AnswerContext } from '../../protocol.ts';
import { REASONING_FORMAT, textOfPart } from '../decode-item.ts';
import { canEncode, encodeFacts, typeOf } from '../hosted-facts.ts';
import { gateItem, gatePart } from './include-gates.ts';
import { OUTPUT_SHAPES } from '../member-shapes.ts';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** Prefixes of item ids. OpenAI refuses an input item with another prefix. */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  ['message', 'msg_'],
  ['reasoning', 'rs_'],
  ['function_call', 'fc_'],
  ['custom_tool_call', 'ctc_'],
  ['function_call_output', 'fco_'],
  ['custom_tool_call_output', 'ctco_'],
  ['compaction', 'cmp_'],
  ['web_search_call', 'ws_'],
  ['image_generation_call', 'ig_'],
  ['computer_call', 'cu_'],
  ['shell_call', 'sh_'],
  ['local_shell_call', 'lsh_'],
  ['apply_patch_call', 'apc_'],
  ['mcp_call', 'mcp_'],
  ['mcp_list_tools', 'mcpl_'],
  ['mcp_approval_request', 'mcpr_'],
]);
/** Returns the id prefix of items of this type. */
export function prefixOf(type: string): string {
  return PREFIXES.get(type) ?? 'item_';
}

/** Shorter ids are counters of small servers (`msg_0`), which repeat in the next answer. */
const SHORTEST_ID = 16;
/** OpenAI refuses longer ids, and ids with other characters. */
const LONGEST_ID = 64;
const LEGAL_ID = /^[\w-]+$/;

/** Assigns the ids of one answer's items: the upstream's own if usable, otherwise derived from the answer's id. */
export class ItemIds {
  readonly #base: string;
  readonly #used = new Set<string>();

  /** @param generationId the answer's id; derived ids are the same whenever the answer is written */
  constructor(generationId: string) {
    this.#base = generationId;
  }

  /** @param position index of the item in the answer */
  take(item: OpenItem | Item, position: number): string {
    const type = wireType(item);
    const prefix = PREFIXES.get(type);
    const given = 'id' in item ? item.id : undefined;
    const isUsable =
      given !== undefined &&
      given.length >= SHORTEST_ID &&
      given.length <= LONGEST_ID &&
      given.startsWith(prefix ?? '') &&
      LEGAL_ID.test(given) &&
      !this.#used.has(given);
    const id = isUsable ? given : `${prefix ?? 'item_'}${this.#base}_${position}`;
    this.#used.add(id);
    return id;
  }
}

/** Returns the item's type in this protocol. */
function wireType(item: OpenItem | Item): string {
  switch (item.type) {
    case 'tool_call':
      return item.kind === 'custom' ? 'custom_tool_call' : 'function_call';
    case 'hosted_call':
      return item.facts && !ownRaw(item.source) ? typeOf(item.facts) : item.kind;
    case 'unknown':
      return String(item.source.raw['type']);
    default:
      return item.type;
  }
}

/** False for items that this protocol cannot express: unknown items of other protocols, and most of their hosted work. */
export function isShown(item: OpenItem | Item): boolean {
  switch (item.type) {
    case 'hosted_call':
      return item.source?.protocol === 'openai-responses' || canEncode(item);
    case 'unknown':
      return item.source.protocol === 'openai-responses';
    case 'tool_result':
    case 'reference':
      return false;
    default:
      return true;
  }
}

/**
 * Encodes an item for which `isShown` is true. Unknown members of the upstream's own form are kept.
 * @param status for items that have none of their own
 */
export function encodeOutputItem(
  item: Item,
  id: string,
  status: ItemStatus,
  context: AnswerContext,
): JsonObject {
  const raw = ownRaw(item.source);
  switch (item.type) {
    case 'message':
      return {
        id,
        type: 'message',
        status: statusOf(raw, status),
        role: 'assistant',
        content: withUnknownParts(
          item.parts.map((part) => encodeOutputPart(part, context)),
          raw,
        ),
        ...(raw && unknownMembers(raw, OUTPUT_SHAPES.message.known)),
      };
    case 'reasoning': {
      const { opaque } = item;
      const isSummary = isShownAsSummary(item.format, context);
      const summary = isSummary ? [...item.summary, ...item.text] : item.summary;
      const text = isSummary ? [] : item.text;
      const state = opaque?.kind === 'encrypted' && opaque.format === REASONING_FORMAT;
      const whole = {
        id,
        type: 'reasoning',
        summary: summary.map(summaryPart),
        ...(text.length > 0 ? { content: text.map(reasoningPart) } : {}),
        ...(state ? { encrypted_content: opaque.data } : {}),
        ...(raw && unknownMembers(raw, OUTPUT_SHAPES.reasoning.known)),
      };
      return gateItem(whole, includeOf(context));
    }
    case 'tool_call': {
      const isCustom = item.kind === 'custom';
      return {
        id,
        type: wireType(item),
        status: statusOf(raw, status),
        call_id: item.callId,
        name: item.name,
        ...(item.namespace === undefined ? {} : { namespace: item.namespace }),
        [isCustom ? 'input' : 'arguments']: item.arguments,
        ...(raw && unknownMembers(raw, OUTPUT_SHAPES.call.known)),
      };
    }
    case 'compaction':
      return {
        id,
        type: 'compaction',
        encrypted_content: item.encrypted,
        ...(raw && unknownMembers(raw, OUTPUT_SHAPES.compaction.known)),
      };
    case 'hosted_call':
      if (!raw && item.facts) return gateItem({ id, ...encodeFacts(item.facts, status) }, includeOf(context));
      return gateItem({ ...raw, id, ...cutStatus(raw, status) }, includeOf(context));
    default:
      return gateItem({ ...raw, id, ...cutStatus(raw, status) }, includeOf(context));
  }
}

/**
 * True if a chain of thought is shown as the requested summary. Other families return reasoning, or a summary of it, in
 * one place, but a client that requests a summary reads only that.
 * @param format of the reasoning
 */
export function isShownAsSummary(format: string | undefined, { request }: AnswerContext): boolean {
  const { summary = 'none' } = request.reasoning;
  return summary !== 'none' && format !== REASONING_FORMAT;
}

/** Encodes a part of a summary. */
export function summaryPart(text: string): JsonObject {
  return { type: 'summary_text', text };
}

/** Encodes a part of a chain of thought. */
export function reasoningPart(text: string): JsonObject {
  return { type: 'reasoning_text', text };
}

/** Adds the parts of the upstream's own message that have no canonical form, in their places. */
function withUnknownParts(parts: JsonObject[], raw: JsonObject | undefined): readonly JsonObject[] {
  asArray(raw?.['content']).forEach((part, place) => {
    if (isJsonObject(part) && !textOfPart(part)) parts.splice(place, 0, part);
  });
  return parts;
}

/** Encodes a part of a message. Log probabilities are included only if requested. */
export function encodeOutputPart(part: Part, context: AnswerContext): JsonObject {
  if (part.type === 'refusal') return { type: 'refusal', refusal: part.refusal };
  const { text = '', annotations = [], logprobs = [] } = part.type === 'text' ? part : {};
  const whole = {
    type: 'output_text',
    text,
    annotations: annotations.map(encodeAnnotation).filter((each) => each !== undefined),
    logprobs,
  };
  return gatePart(whole, includeOf(context));
}

/** Encodes a citation in the flat form of this protocol; undefined for one that only another protocol has. */
export function encodeAnnotation(annotation: Annotation): JsonObject | undefined {
  const own = ownRaw(annotation.source);
  if (annotation.type !== 'url_citation') return own;
  const { url, title, start, end } = annotation;
  // Servers omit the span or the title, which strict clients require.
  return { ...own, type: 'url_citation', start_index: start, end_index: end, title, url };
}

/** Returns the optional members that the client requested. */
function includeOf({ request }: AnswerContext): ReadonlySet<string> {
  return request.state?.include ?? NO_MEMBERS;
}

const NO_MEMBERS: ReadonlySet<string> = new Set();

/**
 * Status of an unfinished item whose type has no status `failed`. A patch call also lacks `incomplete`, so it stays
 * `in_progress` (OpenAI's API description, 2026-11).
 */
const CUT_STATUS: Readonly<Record<string, string>> = {
  apply_patch_call: 'in_progress',
  computer_call: 'incomplete',
  local_shell_call: 'incomplete',
  shell_call: 'incomplete',
  tool_search_call: 'incomplete',
  tool_search_output: 'incomplete',
};

/** Sets the status of an unfinished item, so that it does not look in progress. */
function cutStatus(raw: JsonObject | undefined, status: ItemStatus): JsonObject {
  if (status === 'in_progress' || raw?.['status'] !== 'in_progress') return {};
  const type = String(raw['type']);
  return { status: Object.hasOwn(CUT_STATUS, type) ? CUT_STATUS[type] : 'failed' };
}

function statusOf(raw: JsonObject | undefined, status: ItemStatus): string {
  const own = raw?.['status'];
  return status === 'in_progress' || typeof own !== 'string' ? status : own;
}

function ownRaw(source: Source | undefined): JsonObject | undefined {
  return source?.protocol === 'openai-responses' ? source.raw : undefined;
}
