// Helpers shared by the request parsers: texts of contents, prompt cache and reasoning efforts. Independent of the
// protocol.
import type { JsonObject, JsonValue } from '../src/base/json/index.ts';
import { asArray, asObject, asString, isJsonArray, isJsonObject } from '../src/base/json/index.ts';

/** Text of a content: a string, or the text parts of an array. */
export function contentText(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  let text = '';
  for (const part of asArray(content)) text += asString(asObject(part)['text']) ?? '';
  return text;
}

/** Number of parts that have one of the types. */
export function countParts(content: JsonValue | undefined, types: readonly string[]): number {
  return asArray(content).filter((part) => types.includes(asString(asObject(part)['type']) ?? '')).length;
}

/** Text of the last message if it is the beginning of an answer, else ''. */
export function prefillOf(message: JsonObject | undefined): string {
  return message?.['role'] === 'assistant' && message['tool_calls'] === undefined
    ? contentText(message['content'])
    : '';
}

/** Reasoning tokens per effort. */
export const EFFORT_TOKENS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 16,
  low: 32,
  medium: 64,
  high: 128,
  xhigh: 192,
  max: 256,
};

/**
 * Reasoning tokens for a thinking budget: 1/32 of it, at least 32 and at most 512, and never more than the budget.
 */
export function budgetTokens(budget: number): number {
  return Math.min(budget, 512, Math.max(32, Math.floor(budget / 32)));
}

/**
 * Tokens that OpenAI's automatic prompt cache would read: the part of the prompt that an earlier request of the
 * conversation must have sent, in steps of 128 from 1,024 tokens.
 * @param earlier tokens before the last assistant turn
 */
export function automaticCache(earlier: number): number {
  return earlier < 1024 ? 0 : earlier - (earlier % 128);
}

/** Stop sequences of a field that is a string, an array or absent. */
export function stopList(value: JsonValue | undefined): string[] {
  if (typeof value === 'string') return [value];
  return asArray(value).filter((sequence) => typeof sequence === 'string');
}

/** First key of `object` that is not in `known`; undefined if there is none. */
export function unknownKey(object: JsonObject, known: ReadonlySet<string>): string | undefined {
  for (const key in object) if (!known.has(key)) return key;
  return undefined;
}

/**
 * First violation of strict mode in a schema: every object must be closed and, for OpenAI, every property required.
 * @returns the path of the object and what it lacks; null if the schema is legal
 */
export function strictFault(
  schema: JsonValue | undefined,
  allRequired: boolean,
  path: readonly string[] = [],
): { readonly path: readonly string[]; readonly fault: 'open' | 'optional' } | null {
  if (!isJsonObject(schema) || path.length > 40) return null;
  const properties = asObject(schema['properties']);
  if (schema['type'] === 'object' || schema['properties'] !== undefined) {
    if (schema['additionalProperties'] !== false) return { path, fault: 'open' };
    const required = new Set(asArray(schema['required']));
    if (allRequired && Object.keys(properties).some((name) => !required.has(name)))
      return { path, fault: 'optional' };
  }
  const below: [string[], JsonValue | undefined][] = Object.entries(properties).map(([name, node]) => [
    ['properties', name],
    node,
  ]);
  for (const [name, node] of Object.entries(asObject(schema['$defs'] ?? schema['definitions'])))
    below.push([['$defs', name], node]);
  if (isJsonObject(schema['items'])) below.push([['items'], schema['items']]);
  for (const key of ['anyOf', 'allOf', 'oneOf']) {
    const options = schema[key];
    if (isJsonArray(options)) options.forEach((node, i) => below.push([[key, String(i)], node]));
  }
  for (const [step, node] of below) {
    const found = strictFault(node, allRequired, [...path, ...step]);
    if (found) return found;
  }
  return null;
}
