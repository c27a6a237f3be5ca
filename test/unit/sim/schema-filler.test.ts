// The filler against a real validator, over the forms of schema that people write.
import { describe, expect, test } from 'bun:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonValue } from '../../../src/base/json/index.ts';
import { fillSchema, hintsOf } from '../../../sim/schema-filler.ts';

describe('schema filler', () => {
  const schemas: Record<string, object> = {
    nested: {
      type: 'object',
      properties: {
        a: {
          type: 'object',
          properties: { b: { type: 'array', items: { type: 'integer' }, minItems: 3 } },
          required: ['b'],
        },
      },
      required: ['a'],
    },
    formats: {
      type: 'object',
      properties: {
        d: { type: 'string', format: 'date' },
        e: { type: 'string', format: 'email' },
        u: { type: 'string', format: 'uuid' },
      },
      required: ['d', 'e', 'u'],
    },
    numbers: {
      type: 'array',
      prefixItems: [
        { type: 'integer', exclusiveMinimum: 4, multipleOf: 3 },
        { type: 'number', minimum: 0.2, maximum: 0.3 },
        { type: 'integer', maximum: -5 },
      ],
      items: false,
    },
    lengths: { type: 'string', minLength: 30, maxLength: 40 },
    choice: {
      anyOf: [
        {
          type: 'object',
          properties: { kind: { const: 'x' } },
          required: ['kind'],
          additionalProperties: false,
        },
        { type: 'null' },
      ],
    },
    refs: {
      $defs: {
        node: {
          type: 'object',
          properties: {
            value: { type: 'string' },
            next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
          },
          required: ['value', 'next'],
          additionalProperties: false,
        },
      },
      $ref: '#/$defs/node',
    },
    tree: {
      type: 'object',
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
      required: ['name', 'children'],
      additionalProperties: false,
    },
    merged: {
      allOf: [
        { type: 'object', properties: { a: { type: 'boolean' } }, required: ['a'] },
        { properties: { b: { type: ['string', 'null'] } }, required: ['b'] },
      ],
    },
    unique: { type: 'array', items: { enum: ['red', 'green', 'blue'] }, uniqueItems: true, minItems: 3 },
    pattern: {
      type: 'object',
      properties: {
        code: { type: 'string', pattern: '^[A-Z]{2}-\\d{3,}(x|y)?$' },
        slug: { type: 'string', pattern: '^[a-z]+$' },
      },
      required: ['code', 'slug'],
    },
    map: { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 2 },
    hostile: {
      type: 'object',
      properties: { ['__proto__']: { type: 'string' }, constructor: { type: 'string' } },
      required: ['__proto__', 'constructor'],
    },
    empty: {},
  };
  test.each(Object.keys(schemas))('satisfies the schema: %s', (name) => {
    const schema = JSON.parse(JSON.stringify(schemas[name])) as JsonValue & object;
    const ajv = new Ajv2020({
      strict: false,
      formats: { date: /^\d{4}-\d\d-\d\d$/, email: /@/, uuid: /^[0-9a-f-]{36}$/ },
    });
    const validate = ajv.compile(schema);
    for (const prompt of ['', 'Weather in Paris for 3 days', '"AB-12345" 0.25 -7 99']) {
      const value = fillSchema(schema, hintsOf(prompt));
      validate(value);
      expect([prompt, value, validate.errors]).toEqual([prompt, value, null]);
    }
  });
});
