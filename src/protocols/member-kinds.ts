// Kinds of members of request bodies: how a value is read under its range, and the JSON Schema that says the same to
// clients. Knows no member by name.
import type { JsonObject } from '../base/json/index.ts';
import { type Problems, TEXTS } from '../canonical/index.ts';
import {
  readBoolean,
  readNumber,
  readObject,
  readString,
  readStrings,
  readWord,
  type Member,
} from './read-member.ts';

export interface Kind<Value> {
  /** The value; undefined for null and absence, and with a problem for whatever does not fit. */
  readonly read: (value: Member, path: string, problems: Problems) => Value | undefined;
  /** JSON Schema (2020-12) of the values that are taken, but for null. */
  readonly schema: JsonObject;
}

/** A number. @param min least value @param max greatest value; both absent where there is no bound */
export function number(min?: number, max?: number): Kind<number> {
  return numeric('number', min, max);
}

/** A whole number. @param min least value @param max greatest value; both absent where there is no bound */
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

export const text: Kind<string> = { read: readString, schema: { type: 'string' } };

export const object: Kind<JsonObject> = { read: readObject, schema: { type: 'object' } };

/** One of these words. */
export function word(...words: readonly string[]): Kind<string> {
  return {
    read: (value, path, problems) => readWord(value, path, problems, words),
    schema: { type: 'string', enum: words },
  };
}

/** Strings that are not empty; undefined where there are none. @param most greatest number of them */
export function texts(most?: number): Kind<readonly string[]> {
  return {
    read: (value, path, problems) => {
      const strings = readStrings(value, path, problems);
      if (most !== undefined && strings && strings.length > most)
        problems.add(path, TEXTS.tooManySequences(most));
      return strings?.length ? strings : undefined;
    },
    schema: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      ...(most === undefined ? {} : { maxItems: most }),
    },
  };
}

/** Only this number, which is what the gateway does without it; another one is a problem of the kind `unsupported`. */
export function only(expected: number): Kind<number> {
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

/** A member that no request may have: any value but null is a problem. @param message what to do instead */
export function refused(message: string): Kind<never> {
  return {
    read: (value, path, problems) => {
      if (value !== undefined && value !== null) problems.add(path, message, 'unsupported');
      return undefined;
    },
    schema: { not: {} },
  };
}
