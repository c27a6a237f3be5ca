// Shapes of the nodes in requests and answers of the Responses API: the members with a canonical form. The decoder
// reports all others, and the encoder copies them when it rewrites a node.
import { asString, unknownMembers } from '../../base/json/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import { type Report, type Target, TEXTS } from '../../canonical/index.ts';
import { members, rewritten, type MemberShape } from '../members/member-shape.ts';

/** Prompt-cache breakpoint. A part with one also keeps its raw form. */
const BREAKPOINT = 'prompt_cache_breakpoint';
export const TEXT_PART = members(`type text annotations logprobs ${BREAKPOINT}`);
export const IMAGE_PART = members(`type image_url file_id detail ${BREAKPOINT}`);
export const FILE_PART = members(`type file_data file_id file_url filename ${BREAKPOINT}`);
const PARTS: Readonly<Record<string, MemberShape>> = {
  input_text: TEXT_PART,
  output_text: TEXT_PART,
  text: TEXT_PART,
  refusal: members(`type refusal ${BREAKPOINT}`),
  input_image: IMAGE_PART,
  input_file: FILE_PART,
  input_audio: members(`type input_audio ${BREAKPOINT}`, { input_audio: members('data format') }),
};

/** Returns the shape of a content part by its type. */
function partShape(part: JsonObject): MemberShape | undefined {
  const type = asString(part['type']) ?? '';
  return Object.hasOwn(PARTS, type) ? PARTS[type] : undefined;
}

/** `id` and `status` only describe the stored item. */
export const MESSAGE_SHAPE = members('type id status role content', { content: partShape });

const OUTPUT = members('type id status call_id output', { output: partShape });
const THOUGHT = members('type text');
const COMPACTION = members('type id encrypted_content');
const ITEMS: Readonly<Record<string, MemberShape>> = {
  message: MESSAGE_SHAPE,
  function_call: members('type id status call_id name namespace arguments'),
  custom_tool_call: members('type id status call_id name namespace input'),
  function_call_output: OUTPUT,
  custom_tool_call_output: OUTPUT,
  reasoning: members('type id status summary content encrypted_content', {
    summary: THOUGHT,
    content: THOUGHT,
  }),
  compaction: COMPACTION,
};

/** Output items by their canonical type. Their encoder copies all other members. */
export const OUTPUT_SHAPES = {
  message: MESSAGE_SHAPE,
  reasoning: members('type id summary content encrypted_content'),
  call: members('type id status call_id name namespace arguments input'),
  compaction: COMPACTION,
};

/** Returns the shape of an item by its type, which clients may omit for messages. */
function itemShape(item: JsonObject): MemberShape | undefined {
  const type = asString(item['type']) ?? (item['role'] === undefined ? '' : 'message');
  return Object.hasOwn(ITEMS, type) ? ITEMS[type] : undefined;
}

export const FUNCTION_SHAPE = members('type name description parameters strict');
export const CUSTOM_SHAPE = members('type name description format');
const TOOLS: Readonly<Record<string, MemberShape>> = {
  function: FUNCTION_SHAPE,
  custom: CUSTOM_SHAPE,
};

/** Returns the shape of a tool by its type. Other types have only a raw form. */
function toolShape(tool: JsonObject): MemberShape | undefined {
  const type = asString(tool['type']) ?? '';
  return Object.hasOwn(TOOLS, type) ? TOOLS[type] : undefined;
}

export const TEXT_SHAPE = members('format verbosity', {
  format: rewritten('type name schema strict description'),
});

/** Includes members that OpenAI does not have, because the decoder reads or reports them. */
export const REASONING_SHAPE = members('effort summary generate_summary usage enabled max_tokens exclude');

/** Body of a request, below its top level. */
export const REQUEST_SHAPE = members('', {
  input: itemShape,
  instructions: itemShape,
  tools: toolShape,
  text: TEXT_SHAPE,
  reasoning: REASONING_SHAPE,
});

/** True if a part has members that its canonical form does not hold. */
export function saysMore(raw: JsonObject, { known }: MemberShape): boolean {
  return raw[BREAKPOINT] !== undefined || unknownMembers(raw, known) !== undefined;
}

/** Returns the unknown members of a rewritten node, for a server that accepts them; otherwise they are reported. */
export function unknownOf(
  raw: JsonObject | undefined,
  { known }: MemberShape,
  path: string,
  target: Target,
  report: Report,
): JsonObject | undefined {
  const rest = raw && unknownMembers(raw, known);
  if (!rest || target.quirks.unknownFields === 'pass') return rest;
  for (const name in rest) report.add(`${path}.${name}`, 'dropped', TEXTS.strictUpstream);
  return undefined;
}
