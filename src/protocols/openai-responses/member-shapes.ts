// The members of the nodes in requests and answers of the Responses API, as far as they have a canonical form. Read by the decoder, which
// reports all others, and by the encoder, which copies those of nodes that it writes anew.
import { asString, unknownMembers } from '../../base/json/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import { type Report, type Target, TEXTS } from '../../canonical/index.ts';
import { members, rewritten, type MemberShape } from '../members/member-shape.ts';

/** Breakpoint up to which a prompt may be cached: a part that has it also keeps its raw form. */
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

/** Content parts, by their type. */
function partShape(part: JsonObject): MemberShape | undefined {
  const type = asString(part['type']) ?? '';
  return Object.hasOwn(PARTS, type) ? PARTS[type] : undefined;
}

/** `id` and `status` tell where an item was kept and that it is complete. */
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

/** Items of an answer, by what they are in the canonical model: its encoder copies whatever else they hold. */
export const OUTPUT_SHAPES = {
  message: MESSAGE_SHAPE,
  reasoning: members('type id summary content encrypted_content'),
  call: members('type id status call_id name namespace arguments input'),
  compaction: COMPACTION,
};

/** Items, by their type, which clients leave out of messages. */
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

/** Tools, by their type; others are known by their raw form alone. */
function toolShape(tool: JsonObject): MemberShape | undefined {
  const type = asString(tool['type']) ?? '';
  return Object.hasOwn(TOOLS, type) ? TOOLS[type] : undefined;
}

export const TEXT_SHAPE = members('format verbosity', {
  format: rewritten('type name schema strict description'),
});

/** Tools that are not OpenAI's are read, or reported, by the decoder; what is not known may be tomorrow's. */
export const REASONING_SHAPE = members('effort summary generate_summary usage enabled max_tokens exclude');

/** The body of a request, below its top. */
export const REQUEST_SHAPE = members('', {
  input: itemShape,
  instructions: itemShape,
  tools: toolShape,
  text: TEXT_SHAPE,
  reasoning: REASONING_SHAPE,
});

/** True where a part says more than its canonical form holds. */
export function saysMore(raw: JsonObject, { known }: MemberShape): boolean {
  return raw[BREAKPOINT] !== undefined || unknownMembers(raw, known) !== undefined;
}

/** The unknown members of a node that is written anew, for a server that takes such; those of others are reported. */
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
