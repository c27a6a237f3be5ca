// Reads and validates one member of a request body. Each reader returns undefined for null and absent values, and adds
// a problem for invalid ones.
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../base/json/index.ts';
import { GatewayError, type Problems, TEXTS } from '../../canonical/index.ts';

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
