// Reads the members that tools have in both OpenAI protocols: name, schema of the arguments, input format.
import type { JsonObject } from '../../base/json/index.ts';
import { type Problems, TEXTS } from '../../canonical/index.ts';
import { readObject, readOneOf, requireString } from './read-member.ts';
import type { Member } from './read-member.ts';

/** OpenAI API reference, "Create chat completion", `tools[].function.name`. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Reads the name of a tool. A missing name or illegal characters are a problem. */
export function readToolName(value: Member, path: string, problems: Problems): string | undefined {
  const name = requireString(value, path, problems);
  if (name !== undefined && !TOOL_NAME.test(name)) {
    problems.add(path, TEXTS.mustBeToolName);
  }
  return name;
}

/**
 * Reads the schema of the arguments. Every upstream requires an object schema; other values would fail later with a
 * less clear error.
 */
export function decodeParametersSchema(
  value: Member,
  path: string,
  problems: Problems,
): JsonObject | undefined {
  const schema = readObject(value, path, problems);
  if (schema && schema['type'] !== undefined && schema['type'] !== 'object') {
    problems.add(`${path}.type`, 'must be "object", because tool arguments are an object');
  }
  return schema;
}

/**
 * Reads the input format. Chat Completions nests the grammar, `{type:"grammar", grammar:{syntax, definition}}`; the
 * canonical form is flat.
 */
export function decodeCustomFormat(value: Member, path: string, problems: Problems): JsonObject | undefined {
  const format = readObject(value, path, problems);
  if (!format) return undefined;
  const type = readOneOf(format['type'] ?? '', `${path}.type`, problems, ['text', 'grammar'] as const);
  if (type !== 'grammar') return type && { type };
  const isNested = format['grammar'] !== undefined;
  const grammar = isNested ? readObject(format['grammar'], `${path}.grammar`, problems) : format;
  const at = isNested ? `${path}.grammar` : path;
  if (!grammar) return undefined;
  const syntax = readOneOf(grammar['syntax'] ?? '', `${at}.syntax`, problems, ['lark', 'regex'] as const);
  const definition = requireString(grammar['definition'], `${at}.definition`, problems);
  return { type, syntax, definition };
}
