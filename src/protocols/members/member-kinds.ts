// Kinds of members: how a value is read and validated, and the JSON Schema that says the same to clients.
import type { JsonObject } from '../../base/json/index.ts';
import { type Problems, TEXTS } from '../../canonical/index.ts';
import {
  type Member,
  readBoolean,
  readNumber,
  readObject,
  readOneOf,
  readString,
  readStrings,
} from './read-member.ts';

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
