// OpenAI's description of its API as a judge of single objects. Owns the exact list of what may deviate from it.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import Ajv from 'ajv';
import type { ValidateFunction } from 'ajv';
import { openaiSchemaFile } from './corpus.ts';
import type { Loose } from './loose.ts';

const compiled = new Map<string, ValidateFunction>();
let ajv: Ajv | undefined;

/**
 * What is wrong with an object.
 * @param name one of the document's `components.schemas`
 * @returns one sentence per mistake; empty when it fits
 */
export function fits(name: string, value: Loose): string[] {
  let validate = compiled.get(name);
  if (!validate) {
    ajv ??= new Ajv({ strict: false, validateFormats: false }).addSchema(readSchema(), 'openai');
    validate = ajv.getSchema(`openai#/components/schemas/${name}`);
    if (!validate) throw new Error(`${openaiSchemaFile} describes no ${name}`);
    compiled.set(name, validate);
  }
  if (validate(value)) return [];
  return (validate.errors ?? []).map((error) => `${name}${error.instancePath} ${error.message ?? ''}`);
}

/**
 * The document writes `nullable` (OpenAPI 3.0), also beside references and enums; JSON Schema has no such word. And it
 * forgets that a fingerprint may be null, which it is in 107 of 204 recorded answers of OpenAI.
 */
function readSchema(): object {
  return JSON.parse(gunzipSync(readFileSync(openaiSchemaFile)).toString(), (name, node: unknown) => {
    if (name === 'system_fingerprint') return { type: ['string', 'null'] };
    if (typeof node !== 'object' || node === null || !('nullable' in node)) return node;
    const { nullable, ...rest } = node;
    return nullable === true ? { anyOf: [rest, { type: 'null' }] } : rest;
  }) as object;
}
