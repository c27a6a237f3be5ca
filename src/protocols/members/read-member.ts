// Reads and validates one member of a request body. Each reader returns undefined for null and absent values, and adds
// a problem for invalid ones.
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../base/json/index.ts';
import { GatewayError, type Problems, TEXTS, type Part } from '../../canonical/index.ts';

export type Member = JsonValue | undefined;

export interface NumberRange {
  readonly min?: number;
  readonly max?: number;
  readonly integer?: boolean;
}

/** Integers from 1. */
export const POSITIVE: NumberRange = { min: 1, integer: true };
const ANY_NUMBER: NumberRange = {};

/**
 * Reads the body of a request. A member that would set the prototype of a copy is a problem.
 * @throws GatewayError if it is not an object
 */
export function requireBody(body: unknown, problems: Problems): JsonObject {
  if (!isJsonObject(body))
    throw new GatewayError('invalid_request', 'The request body must be a JSON object.');
  if (Object.hasOwn(body, '__proto__')) problems.add('__proto__', 'is not a valid member name');
  return body;
}

/** Reads a string. */
export function readString(value: Member, path: string, problems: Problems): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  problems.add(path, TEXTS.mustBeString(describe(value)));
  return undefined;
}

/** Reads a string; a problem also if it is absent, null or empty. */
export function requireString(value: Member, path: string, problems: Problems): string | undefined {
  if (value === undefined || value === null) problems.add(path, 'is required');
  else if (value === '') problems.add(path, 'must not be empty');
  else return readString(value, path, problems);
  return undefined;
}

/** Reads a string that can be empty; a problem if it is absent or null. */
export function requireStringOrEmpty(value: Member, path: string, problems: Problems): string | undefined {
  if (value !== undefined && value !== null) return readString(value, path, problems);
  problems.add(path, 'is required');
  return undefined;
}

/** Reads a boolean. */
export function readBoolean(value: Member, path: string, problems: Problems): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  problems.add(path, `must be true or false, not ${describe(value)}`);
  return undefined;
}

/** Reads a number within its range, bounds included. */
export function readNumber(
  value: Member,
  path: string,
  problems: Problems,
  range: NumberRange = ANY_NUMBER,
): number | undefined {
  if (value === undefined || value === null) return undefined;
  const noun = range.integer ? 'an integer' : 'a number';
  if (typeof value !== 'number') {
    problems.add(path, `must be ${noun}, not ${describe(value)}`);
    return undefined;
  }
  const { min = -Infinity, max = Infinity } = range;
  const isLegal = Number.isFinite(value) && value >= min && value <= max;
  if (isLegal && (!range.integer || Number.isInteger(value))) return value;
  problems.add(path, `must be ${noun}${describeRange(min, max)}`);
  return undefined;
}

/** Reads one of `allowed`; the problem lists them. */
export function readOneOf<Value extends string>(
  value: Member,
  path: string,
  problems: Problems,
  allowed: readonly Value[],
): Value | undefined {
  if (value === undefined || value === null) return undefined;
  const known = allowed.find((candidate) => candidate === value);
  if (known === undefined) problems.add(path, TEXTS.mustBeOneOf(allowed.join(', ')));
  return known;
}

/** Reads an object. */
export function readObject(value: Member, path: string, problems: Problems): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  if (isJsonObject(value)) return value;
  problems.add(path, TEXTS.mustBeObject(describe(value)));
  return undefined;
}

/** Reads an object; a problem also if it is absent or null. */
export function requireObject(value: Member, path: string, problems: Problems): JsonObject | undefined {
  if (value !== undefined && value !== null) return readObject(value, path, problems);
  problems.add(path, 'is required');
  return undefined;
}

/** Reads an array. */
export function readArray(value: Member, path: string, problems: Problems): readonly JsonValue[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (isJsonArray(value)) return value;
  problems.add(path, `must be an array, not ${describe(value)}`);
  return undefined;
}

/** Reads an array of non-empty strings; undefined if any element is invalid. */
export function readStrings(value: Member, path: string, problems: Problems): readonly string[] | undefined {
  const elements = readArray(value, path, problems);
  if (!elements) return undefined;
  const strings: string[] = [];
  elements.forEach((element, index) => {
    const text = requireString(element, `${path}[${index}]`, problems);
    if (text !== undefined) strings.push(text);
  });
  return strings.length === elements.length ? strings : undefined;
}

/** Returns the type of a value for messages, to be used after "not". */
export function describe(value: Member): string {
  if (value === null) return 'null';
  if (isJsonArray(value)) return 'an array';
  switch (typeof value) {
    case 'object':
      return 'an object';
    case 'undefined':
      return 'nothing';
    default:
      return `a ${typeof value}`;
  }
}

function describeRange(min: number, max: number): string {
  if (min !== -Infinity && max !== Infinity) return ` from ${min} to ${max}`;
  if (min !== -Infinity) return ` of at least ${min}`;
  return max === Infinity ? '' : ` of at most ${max}`;
}

// Content of a message or a tool result: a string, or a list of parts.

/**
 * Reads content that is a string or a list of parts.
 * @param decode reads an element of the list; returns undefined after adding a problem
 * @returns undefined if absent or null; an empty list, with a problem, for another type
 */
export function readContent(
  content: Member,
  path: string,
  problems: Problems,
  decode: (element: JsonValue, path: string) => Part | undefined,
): Part[] | undefined {
  if (content === undefined || content === null) return undefined;
  if (typeof content === 'string') return [{ type: 'text', text: content, path }];
  const parts: Part[] = [];
  readArray(content, path, problems)?.forEach((element, index) => {
    const part = decode(element, `${path}[${index}]`);
    if (part) parts.push(part);
  });
  return parts;
}

// Kinds of members: how a value is read and validated, and the JSON Schema that says the same to clients.

export interface Kind<Value> {
  /** Returns the value; undefined for null and absent values, and with a problem for invalid ones. */
  readonly read: (value: Member, path: string, problems: Problems) => Value | undefined;
  /** JSON Schema (2020-12) of the accepted values, except null. */
  readonly schema: JsonObject;
}

/** A number. @param min minimum @param max maximum; absent: unbounded */
export function number(min?: number, max?: number): Kind<number> {
  return numeric('number', min, max);
}

/** An integer. @param min minimum @param max maximum; absent: unbounded */
export function integer(min?: number, max?: number): Kind<number> {
  return numeric('integer', min, max);
}

function numeric(type: 'number' | 'integer', min?: number, max?: number): Kind<number> {
  const bounds = {
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    integer: type === 'integer',
  };
  return {
    read: (value, path, problems) => readNumber(value, path, problems, bounds),
    schema: {
      type,
      ...(min === undefined ? {} : { minimum: min }),
      ...(max === undefined ? {} : { maximum: max }),
    },
  };
}

export const boolean: Kind<boolean> = { read: readBoolean, schema: { type: 'boolean' } };

export const string: Kind<string> = { read: readString, schema: { type: 'string' } };

export const object: Kind<JsonObject> = { read: readObject, schema: { type: 'object' } };

/** One of these strings. */
export function oneOf(...values: readonly string[]): Kind<string> {
  return {
    read: (value, path, problems) => readOneOf(value, path, problems, values),
    schema: { type: 'string', enum: values },
  };
}

/** A list of non-empty strings; undefined if it is empty. @param most maximum length */
export function strings(most?: number): Kind<readonly string[]> {
  return {
    read: (value, path, problems) => {
      const list = readStrings(value, path, problems);
      if (most !== undefined && list && list.length > most) problems.add(path, TEXTS.tooManySequences(most));
      return list?.length ? list : undefined;
    },
    schema: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      ...(most === undefined ? {} : { maxItems: most }),
    },
  };
}

/** Only this number, which is the gateway's default. Other numbers are a problem of the kind `unsupported`. */
export function literal(expected: number): Kind<number> {
  return {
    read: (value, path, problems) => {
      const given = readNumber(value, path, problems, { integer: true });
      if (given !== undefined && given !== expected)
        problems.add(path, `only ${expected} is supported`, 'unsupported');
      return given;
    },
    schema: { type: 'integer', enum: [expected] },
  };
}

/** A member that is not allowed: any value but null is a problem. @param message what to do instead */
export function forbidden(message: string): Kind<never> {
  return {
    read: (value, path, problems) => {
      if (value !== undefined && value !== null) problems.add(path, message, 'unsupported');
      return undefined;
    },
    schema: { not: {} },
  };
}
