// Detects which protocol's form a piece of a request body has: a message, a tool or a tool choice. Converts tools and
// tool choices between forms.
import { asArray, asObject, asString, isJsonArray, isJsonObject } from '../../base/json/index.ts';
import type { JsonObject, JsonValue } from '../../base/json/index.ts';

/** Protocols whose forms clients mix. */
export type MixedProtocol = 'openai-chat' | 'openai-responses' | 'anthropic-messages';

/** Part types that only one protocol has. `text`, `thinking` with a string, and plain strings are common to all. */
const PARTS: Readonly<Record<string, MixedProtocol>> = {
  image_url: 'openai-chat',
  file: 'openai-chat',
  input_text: 'openai-responses',
  output_text: 'openai-responses',
  input_image: 'openai-responses',
  input_file: 'openai-responses',
  tool_use: 'anthropic-messages',
  tool_result: 'anthropic-messages',
  thinking: 'anthropic-messages',
  redacted_thinking: 'anthropic-messages',
  document: 'anthropic-messages',
  search_result: 'anthropic-messages',
  server_tool_use: 'anthropic-messages',
  web_search_tool_result: 'anthropic-messages',
};

/** Message members that only Chat Completions has. */
const CHAT_MEMBERS = [
  'tool_calls',
  'tool_call_id',
  'function_call',
  'reasoning_content',
  'reasoning_details',
];

/** Returns the form of an element of `messages` or `input`; undefined for text, which all protocols read. */
export function formOfElement(element: JsonValue): MixedProtocol | undefined {
  if (!isJsonObject(element)) return undefined;
  const { role, type } = element;
  if (role === undefined) return typeof type === 'string' ? 'openai-responses' : undefined;
  const parts = asArray(element['content']).filter(isJsonObject);
  // An assistant message in blocks keeps its order only if it is read as blocks.
  if (parts.some((part) => formOfPart(part) === 'anthropic-messages')) return 'anthropic-messages';
  if (role === 'tool' || CHAT_MEMBERS.some((name) => (element[name] ?? null) !== null)) return 'openai-chat';
  for (const part of parts) {
    const form = formOfPart(part);
    if (form) return form;
  }
  return undefined;
}

function formOfPart(part: JsonObject): MixedProtocol | undefined {
  const type = asString(part['type']) ?? '';
  // Mistral's form contains parts (docs.mistral.ai, "Reasoning", 2026-08).
  if (type === 'thinking' && isJsonArray(part['thinking'])) return 'openai-chat';
  if (type === 'image') return isJsonObject(part['source']) ? 'anthropic-messages' : undefined;
  return Object.hasOwn(PARTS, type) ? PARTS[type] : undefined;
}

/** Converts Chat Completions images in a message of Anthropic blocks, because the other blocks can only be read as such. */
export function withImageBlocks(message: JsonValue): JsonValue {
  if (!isJsonObject(message) || !isJsonArray(message['content'])) return message;
  const content = message['content'].map((part) =>
    isJsonObject(part) && part['type'] === 'image_url' ? imageBlock(part) : part,
  );
  return { ...message, content };
}

/** OpenAI API reference, "Image content part"; Anthropic API reference, "Image block" (2026-11). */
function imageBlock(part: JsonObject): JsonObject {
  const given = part['image_url'];
  const url = asString(given) ?? asString(asObject(given)['url']) ?? '';
  const inline = /^data:([^;,]+);base64,/.exec(url);
  const source = inline
    ? { type: 'base64', media_type: inline[1], data: url.slice(inline[0].length) }
    : { type: 'url', url };
  return { type: 'image', source };
}

/** Members that a function or custom tool has in every form. */
interface ToolFacts {
  readonly form: MixedProtocol;
  readonly type: 'function' | 'custom';
  readonly name: JsonValue | undefined;
  readonly description: JsonValue | undefined;
  readonly schema: JsonValue | undefined;
  readonly strict: JsonValue | undefined;
  readonly format: JsonValue | undefined;
  readonly cache: JsonValue | undefined;
}

/** Reads a client tool; undefined for hosted tools and invalid values. */
function readTool(tool: JsonValue): ToolFacts | undefined {
  if (!isJsonObject(tool)) return undefined;
  const { type, cache_control: cache } = tool;
  if ((type === undefined || type === 'custom') && tool['input_schema'] !== undefined) {
    const { name, description, input_schema: schema, strict } = tool;
    const form = 'anthropic-messages';
    return { form, type: 'function', name, description, schema, strict, format: undefined, cache };
  }
  const isBare = type === undefined && tool['parameters'] !== undefined;
  if (type !== 'function' && type !== 'custom' && tool['function'] === undefined && !isBare) return undefined;
  const kind = type === 'custom' ? 'custom' : 'function';
  const isNested = tool[kind] !== undefined;
  if (!isNested && tool['name'] === undefined) return undefined;
  const { name, description, parameters, strict, format } = isNested ? asObject(tool[kind]) : tool;
  const form = isNested ? 'openai-chat' : 'openai-responses';
  return { form, type: kind, name, description, schema: parameters, strict, format, cache };
}

/** Returns the form of a client tool; undefined for other tools. */
export function formOfTool(tool: JsonValue): MixedProtocol | undefined {
  return readTool(tool)?.form;
}

export interface Reformed {
  readonly value: JsonValue;
  /** Prefixes of paths in the result, with the client's paths that replace them, in order. */
  readonly paths: readonly (readonly [ours: string, theirs: string])[];
}

/** Converts the tool at `path` to one of OpenAI's forms; unchanged if it has that form, or is not a client tool. */
export function reformTool(tool: JsonValue, to: 'openai-chat' | 'openai-responses', path: string): Reformed {
  const facts = readTool(tool);
  // In the Responses API, a flat tool without a type is recognized only by its members.
  const isTyped = to === 'openai-chat' || asObject(tool)['type'] !== undefined;
  if (!facts || (facts.form === to && isTyped)) return { value: tool, paths: [] };
  const { type, name, description, schema: parameters, strict, format, cache } = facts;
  const body: JsonObject = { name, description, parameters, strict, format };
  const value: JsonObject =
    to === 'openai-chat' ? { type, [type]: body, cache_control: cache } : { type, ...body };
  const theirs = placeOf(facts.form, type, path);
  const paths: (readonly [string, string])[] = [];
  const inner = placeOf(to, type, path);
  if (inner !== theirs) paths.push([inner, theirs]);
  if (facts.form === 'anthropic-messages') paths.push([`${theirs}parameters`, `${theirs}input_schema`]);
  return { value, paths };
}

/** Returns the path prefix of a tool's members. */
function placeOf(form: MixedProtocol, type: string, path: string): string {
  return form === 'openai-chat' ? `${path}.${type}.` : `${path}.`;
}

/** Values of Anthropic's `tool_choice`, with OpenAI's equivalents. */
const CHOICES: Readonly<Record<string, string>> = { auto: 'auto', none: 'none', any: 'required' };

/** Returns the form of `tool_choice`; undefined for a string, which both OpenAI protocols read. */
export function formOfChoice(choice: JsonValue | undefined): MixedProtocol | undefined {
  if (!isJsonObject(choice)) return undefined;
  const type = asString(choice['type']) ?? '';
  if (type === 'tool' || Object.hasOwn(CHOICES, type)) return 'anthropic-messages';
  if (type !== 'function' && type !== 'custom') return undefined;
  return choice[type] === undefined ? 'openai-responses' : 'openai-chat';
}

/** Converts `tool_choice` to one of OpenAI's forms. @returns undefined if there is no equivalent */
export function reformChoice(
  choice: JsonValue | undefined,
  to: 'openai-chat' | 'openai-responses',
): JsonValue | undefined {
  const form = formOfChoice(choice);
  if (!isJsonObject(choice) || form === undefined || form === to) return choice;
  const type = asString(choice['type']) ?? '';
  if (Object.hasOwn(CHOICES, type)) return CHOICES[type];
  const kind = type === 'custom' ? 'custom' : 'function';
  const name = form === 'openai-chat' ? asObject(choice[kind])['name'] : choice['name'];
  return to === 'openai-chat' ? { type: kind, [kind]: { name } } : { type: kind, name };
}
