// Shapes of the nodes in requests and answers of Chat Completions: the members with a canonical form. The decoder keeps
// or reports all others, and the encoder copies them.
import { asString } from '../../base/json/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import { members, rewritten, type MemberShape } from '../members/member-shape.ts';

const CACHE = 'cache_control prompt_cache_breakpoint';
/** Parts with bytes are rewritten, because the bytes may have been replaced. */
const PARTS: Readonly<Record<string, MemberShape>> = {
  text: members(`type text ${CACHE}`),
  refusal: members(`type refusal ${CACHE}`),
  image_url: rewritten(`type image_url ${CACHE}`, { image_url: rewritten('url detail') }),
  input_audio: rewritten(`type input_audio ${CACHE}`, { input_audio: rewritten('data format') }),
  file: rewritten(`type file ${CACHE}`, { file: rewritten('file_data file_id filename') }),
};

/** Returns the shape of a content part by its type. */
export function partShape(part: JsonObject): MemberShape | undefined {
  const type = asString(part['type']) ?? '';
  return Object.hasOwn(PARTS, type) ? PARTS[type] : undefined;
}

/** A call, in requests and in answers. */
export const CALL_SHAPE = members('index id type function custom', {
  function: rewritten('name arguments'),
  custom: rewritten('name input'),
});

const REASONING = 'reasoning reasoning_content reasoning_details';

/** A message of a request: documented members of all roles, and the reasoning extensions. */
export const MESSAGE_SHAPE = members(
  `role content name refusal audio tool_calls function_call tool_call_id ${REASONING} cache_control`,
  { content: partShape, tool_calls: CALL_SHAPE, function_call: rewritten('name arguments') },
);

const ANSWER = `role content refusal annotations tool_calls function_call ${REASONING}`;

/** A message of an answer. Other members are kept for encoders of the same protocol. */
export const ANSWER_SHAPE = members(`${ANSWER} thought_signature images audio`);

/** Members that the encoder of an answer writes itself. */
export const WRITTEN_SHAPE = members(ANSWER);

/** Members of a tool, below the member that its type names. */
export const DEFINITIONS = {
  function: members('name description parameters strict'),
  custom: members('name description format'),
};
const TOOL = members('type function custom cache_control', DEFINITIONS);

/** Returns the shape of a tool by its type, which clients may leave out for functions. Other types have no shape. */
export function toolShape({ type = 'function' }: JsonObject): MemberShape | undefined {
  return type === 'function' || type === 'custom' ? TOOL : undefined;
}

/** Body of a request, below its top level. */
export const REQUEST_SHAPE = members('', { messages: MESSAGE_SHAPE, tools: toolShape });
