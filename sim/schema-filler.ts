// Generates a value that satisfies a JSON Schema, with words and numbers of the prompt where they fit. Covers typical
// tool schemas, but not `not`, `if` and `dependentSchemas`.
import type { JsonObject, JsonValue, MutableJsonObject } from '../src/base/json/index.ts';
import { asArray, asNumber, asObject, asString, isJsonArray, isJsonObject } from '../src/base/json/index.ts';
import { matchingString } from './pattern-sampler.ts';
import { clip } from './tokens.ts';

/** Words and numbers for values, used in order. Defaults follow when they run out. */
export interface Hints {
  /** The whole prompt, for members such as `query`. */
  readonly text: string;
  readonly words: string[];
  readonly numbers: number[];
}

/** Beyond the first depth, values are as small as the schema allows; beyond the second, they are null. */
const SHALLOW = 4;
const DEEPEST = 24;
/**
 * Maximum size of a value in characters, including a cost per node. Recursive schemas could otherwise grow
 * exponentially.
 */
const BUDGET = 1_000_000;
const NODE_COST = 32;
/** Characters of a prompt that are searched for hints. */
const LOOKED_AT = 20_000;

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  time: '03:04:05Z',
  duration: 'PT1H',
  email: 'someone@example.com',
  'idn-email': 'someone@example.com',
  hostname: 'example.com',
  'idn-hostname': 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  'uri-reference': '/example',
  iri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
  'json-pointer': '/example',
  regex: '.*',
  byte: 'c2lt',
};

/** Members that stand for the whole question. */
const WHOLE_TEXT = new Set([
  'query',
  'q',
  'question',
  'prompt',
  'text',
  'input',
  'message',
  'content',
  'task',
  'description',
  'search',
]);

/** Words (quoted ones first, then capitalized ones) and numbers of a prompt. */
export function hintsOf(prompt: string): Hints {
  const text = clip(prompt, LOOKED_AT);
  const words: string[] = [];
  for (const match of text.matchAll(/"([^"]{1,80})"|“([^”]{1,80})”|`([^`]{1,80})`/g)) {
    const word = match[1] ?? match[2] ?? match[3];
    if (word) words.push(word);
  }
  // A capital in the middle of a sentence starts a name. At its start it means nothing.
  for (const match of text.matchAll(/[\p{Ll}\p{N},;:]\s+((?:\p{Lu}[\p{L}'’-]*\s?)+)/gu)) {
    const name = match[1]?.trim();
    if (name && name.length > 1 && !words.includes(name)) words.push(name);
  }
  const numbers = [...text.matchAll(/-?\d+(?:\.\d+)?/g)]
    .map((match) => Number(match[0]))
    .filter(Number.isFinite);
  return { text: text.trim(), words, numbers };
}

/** A value for `schema`. Consumes `hints`. */
export function fillSchema(schema: JsonValue | undefined, hints: Hints): JsonValue {
  return fill(schema, { root: asObject(schema), hints, left: BUDGET }, '', 0);
}

interface Context {
  readonly root: JsonObject;
  readonly hints: Hints;
  /** Remaining budget. */
  left: number;
}

function fill(schema: JsonValue | undefined, context: Context, key: string, depth: number): JsonValue {
  context.left -= NODE_COST;
  if (schema === false || depth > DEEPEST || context.left < 0) return null;
  if (!isJsonObject(schema)) return text(EMPTY, context, key);
  const resolved = resolve(schema, context, depth);
  if (resolved['const'] !== undefined) return resolved['const'];
  const options = asArray(resolved['enum']);
  if (options.length > 0) return pick(options, context);
  switch (typeOf(resolved)) {
    case 'object':
      return object(resolved, context, depth);
    case 'array':
      return array(resolved, context, key, depth);
    case 'integer':
      return number(resolved, context, true);
    case 'number':
      return number(resolved, context, false);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return text(resolved, context, key);
  }
}

const EMPTY: JsonObject = {};

/** The option that the prompt mentions, or else the first. */
function pick(options: readonly JsonValue[], context: Context): JsonValue {
  const prompt = context.hints.text.toLowerCase();
  const named = options.find(
    (option) => typeof option === 'string' && option.length > 1 && prompt.includes(option.toLowerCase()),
  );
  return named ?? options[0] ?? null;
}

/** Resolves `$ref`, merges `allOf`, and selects one of `anyOf` or `oneOf`. */
function resolve(schema: JsonObject, context: Context, depth: number): JsonObject {
  let current = schema;
  for (let step = 0; step < 16; step++) {
    const { $ref, allOf, anyOf, oneOf, ...rest } = current;
    const target = asString($ref);
    const options = [...asArray(anyOf), ...asArray(oneOf)];
    if (target !== undefined) current = merge(asObject(pointer(context.root, target)), rest);
    else if (isJsonArray(allOf)) {
      let merged: JsonObject = rest;
      for (const part of allOf) merged = merge(merged, expand(asObject(part), context));
      current = options.length > 0 ? { ...merged, anyOf: options } : merged;
    } else if (options.length > 0) {
      // At depth, recursive schemas are ended with a leaf among their options.
      const leaf = depth > SHALLOW ? options.find((option) => isLeaf(option)) : undefined;
      current = merge(rest, asObject(leaf ?? options[0]));
    } else return current;
  }
  return current;
}

function expand(part: JsonObject, context: Context): JsonObject {
  const target = asString(part['$ref']);
  if (target === undefined) return part;
  const { $ref: _, ...rest } = part;
  return merge(asObject(pointer(context.root, target)), rest);
}

function isLeaf(option: JsonValue): boolean {
  const type = asObject(option)['type'];
  return (
    type === 'null' || type === 'string' || type === 'number' || type === 'integer' || type === 'boolean'
  );
}

/** Combines two schemas that must both hold: joins members of objects, and takes all else from the second. */
function merge(first: JsonObject, second: JsonObject): JsonObject {
  const merged: MutableJsonObject = { ...first, ...second };
  if (first['properties'] && second['properties']) {
    merged['properties'] = { ...asObject(first['properties']), ...asObject(second['properties']) };
  }
  if (first['required'] && second['required']) {
    merged['required'] = [...new Set([...asArray(first['required']), ...asArray(second['required'])])];
  }
  return merged;
}

/** Resolves a local reference (`#`, `#/$defs/x`); undefined if it does not exist. */
function pointer(root: JsonObject, reference: string): JsonValue | undefined {
  let node: JsonValue | undefined = root;
  for (const part of reference.replace(/^#\/?/, '').split('/')) {
    if (part === '') continue;
    const name: string = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (isJsonArray(node)) node = node[Number(name)];
    else if (isJsonObject(node) && Object.hasOwn(node, name)) node = node[name];
    else return undefined;
  }
  return node;
}

function typeOf(schema: JsonObject): string {
  const { type } = schema;
  if (typeof type === 'string') return type;
  if (isJsonArray(type)) return asString(type.find((name) => name !== 'null')) ?? 'null';
  if (schema['properties'] || schema['required'] || schema['additionalProperties']) return 'object';
  if (schema['items'] || schema['prefixItems'] || schema['minItems']) return 'array';
  if (
    schema['minimum'] !== undefined ||
    schema['maximum'] !== undefined ||
    schema['multipleOf'] !== undefined
  )
    return 'number';
  return 'string';
}

function object(schema: JsonObject, context: Context, depth: number): JsonValue {
  const properties = asObject(schema['properties']);
  const required = asArray(schema['required']).filter((name) => typeof name === 'string');
  // If no members are required, all are filled in, as models do.
  const names = required.length > 0 || depth > SHALLOW ? required : Object.keys(properties);
  const result: MutableJsonObject = {};
  for (const name of names)
    set(result, name, fill(properties[name] ?? schema['additionalProperties'], context, name, depth + 1));
  const fewest = asNumber(schema['minProperties']) ?? 0;
  const spare = [...Object.keys(properties), 'first', 'second', 'third', 'fourth'];
  for (const name of spare) {
    if (Object.keys(result).length >= fewest) break;
    if (!Object.hasOwn(result, name))
      set(result, name, fill(properties[name] ?? schema['additionalProperties'], context, name, depth + 1));
  }
  return result;
}

/** Sets a member. A plain assignment to `__proto__` would be lost. */
function set(target: MutableJsonObject, name: string, value: JsonValue): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

function array(schema: JsonObject, context: Context, key: string, depth: number): JsonValue {
  const prefix = asArray(schema['prefixItems']);
  const fewest = Math.min(asNumber(schema['minItems']) ?? 0, 1000);
  const most = asNumber(schema['maxItems']) ?? Infinity;
  const wanted = Math.max(fewest, prefix.length, depth > SHALLOW || schema['items'] === false ? 0 : 1);
  const count = Math.min(wanted, most);
  const items: JsonValue[] = [];
  const seen = new Set<string>();
  for (let i = 0; items.length < count && i < count + 1000 && context.left > 0; i++) {
    const itemSchema = prefix[items.length] ?? schema['items'];
    let item = fill(itemSchema, context, key, depth + 1);
    if (schema['uniqueItems'] === true) {
      if (seen.has(JSON.stringify(item))) item = vary(item, i, asObject(itemSchema));
      if (seen.has(JSON.stringify(item))) continue;
      seen.add(JSON.stringify(item));
    }
    items.push(item);
  }
  return items;
}

function vary(item: JsonValue, by: number, schema: JsonObject): JsonValue {
  const options = asArray(schema['enum']);
  if (options.length > 0) return options[by % options.length] ?? null;
  if (typeof item === 'number') return item + by * (asNumber(schema['multipleOf']) ?? 1);
  if (typeof item === 'string') return `${item} ${by + 1}`;
  return item;
}

function number(schema: JsonObject, context: Context, whole: boolean): number {
  const step = asNumber(schema['multipleOf']) ?? (whole ? 1 : 0);
  const above = asNumber(schema['exclusiveMinimum']);
  const below = asNumber(schema['exclusiveMaximum']);
  const low = Math.max(asNumber(schema['minimum']) ?? -Infinity, above ?? -Infinity);
  const high = Math.min(asNumber(schema['maximum']) ?? Infinity, below ?? Infinity);
  const fits = (n: number): boolean =>
    n >= low &&
    n <= high &&
    n !== above &&
    n !== below &&
    (step === 0 || Math.abs(n / step - Math.round(n / step)) < 1e-9);
  const { numbers } = context.hints;
  const at = numbers.findIndex(fits);
  if (at >= 0) return numbers.splice(at, 1)[0] ?? 0;
  const start = Number.isFinite(low) ? low : Number.isFinite(high) ? high : 1;
  const unit = step === 0 ? (Number.isFinite(high - low) ? (high - low) / 2 : 1) : step;
  const base = step === 0 ? start : Math.ceil(start / step - 1e-9) * step;
  return [1, 0, start, base, base + unit, base - unit].find(fits) ?? start;
}

function text(schema: JsonObject, context: Context, key: string): string {
  const format = FORMATS[asString(schema['format']) ?? ''];
  if (format !== undefined) return format;
  const pattern = asString(schema['pattern']);
  const { words, text: prompt } = context.hints;
  const whole = WHOLE_TEXT.has(key.toLowerCase());
  let value =
    whole || words.length === 0
      ? clip(prompt, 120) || 'example'
      : ((words.length > 1 ? words.shift() : words[0]) ?? 'example');
  const least = asNumber(schema['minLength']) ?? 0;
  const most = asNumber(schema['maxLength']) ?? Infinity;
  context.left -= Math.max(value.length, Math.min(least, 100_000));
  if (pattern !== undefined) return matchingString(pattern, [value, ...words], least, most);
  if (value.length < least) value = value.padEnd(Math.min(least, 100_000), '.');
  return value.length > most ? clip(value, most) : value;
}
