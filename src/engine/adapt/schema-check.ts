// Validates values against JSON Schemas of any size: small ones in this process, expensive ones in a separate
// process, so that other requests are not delayed. Defines that threshold and the limits of the separate process.
import { fileURLToPath } from 'node:url';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { Turns } from '../documents/turns.ts';
import { CompiledCache } from '../grammar/index.ts';
import { type ProgramEnd, runProgram } from '../../base/runtime/subprocess.ts';
import { MAX_SCHEMA_CHARS, type SchemaAnswer, type SchemaQuestion } from './schema-answer.ts';
import type { SchemaValidator } from './schema-validator.ts';

export interface SchemaCheck {
  /** Schema requirements that are not checked, as text. Empty: all are checked. */
  readonly unchecked: readonly string[];
  /**
   * Checks a value. Null: it matches.
   * @param json the value as text
   * @param path of the schema in the client's body
   * @param signal of the client's request
   * @throws GatewayError when the schema recurses endlessly for this value, or validation takes too long
   */
  problemOf(value: JsonValue, json: string, path: string, signal: AbortSignal): Promise<string | null>;
}

/** Maximum objects of a schema that is compiled in this process; each takes about 0.25 ms. */
const MOST_OBJECTS_AT_ONCE = 100;
/**
 * Maximum product of schema objects and characters of the value, because each object may visit each member. About 20
 * ms.
 */
const MOST_WORK_AT_ONCE = 200_000;
const TIMEOUT_MS = 10_000;
const MAX_MEMORY_BYTES = 512 * 1_048_576;
const MAX_OUTPUT_BYTES = 1_048_576;
/** Checks in the whole gateway that run concurrently, and that may be queued. */
const CONCURRENCY = 2;
const MOST_WAITING = 50;
const PROGRAM = fileURLToPath(new URL('schema-process.ts', import.meta.url));

const turns = new Turns(CONCURRENCY, MOST_WAITING, 'schemas are queued for validation');
/** Results of checking large schemas, by schema text. */
const known = new CompiledCache<SchemaAnswer>();

/** The validator, loaded on first use: most gateways never need it, and it takes 7 MB and 40 ms. */
let compileSchema: ((schema: JsonObject, path: string) => SchemaValidator) | undefined;

/**
 * Loads the validator and determines whether a large schema is usable. Must be awaited before `openSchema`. Small
 * schemas cost nothing here. Unusable schemas do not reject.
 * @throws GatewayError `rate_limited` when too many are queued, `cancelled`
 */
export async function prepareSchema(schema: JsonObject, signal: AbortSignal): Promise<void> {
  compileSchema ??= (await import('./schema-validator.ts')).compileSchema;
  const text = JSON.stringify(schema);
  if (text.length > MAX_SCHEMA_CHARS || isSmall(schema) || known.get(text)) return;
  known.set(text, await ask({ schema }, signal), Math.ceil(text.length / 100));
}

/**
 * Opens a schema for checking, after `prepareSchema`.
 * @param path of the schema in the client's body
 * @throws GatewayError `invalid_request` for an unusable schema
 */
export function openSchema(schema: JsonObject, path: string): SchemaCheck {
  const objects = countObjects(schema);
  const text = JSON.stringify(schema);
  const answer = objects > MOST_OBJECTS_AT_ONCE ? known.get(text) : undefined;
  if (answer && 'unusable' in answer) throw unusable(answer.unusable, path);
  if (!compileSchema) throw new TypeError('a schema was opened before it was prepared');
  const here = answer ? null : compileSchema(schema, path);
  return {
    unchecked: here?.unchecked ?? answer?.unchecked ?? [],
    async problemOf(value, json, from, signal) {
      if (here && objects * json.length <= MOST_WORK_AT_ONCE) return here.problemOf(value, from);
      const found = await ask({ schema, value }, signal);
      if ('unusable' in found) throw unusable(found.unusable, from);
      return found.problem;
    },
  };
}

async function ask(question: SchemaQuestion, signal: AbortSignal): Promise<SchemaAnswer> {
  const end = await turns.run(signal, () =>
    runProgram({
      file: PROGRAM,
      input: Buffer.from(JSON.stringify(question)),
      timeoutMs: TIMEOUT_MS,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      maxMemoryBytes: MAX_MEMORY_BYTES,
      signal,
    }),
  );
  if (signal.aborted) throw new GatewayError('cancelled', 'The schema check was cancelled.');
  if (end.type === 'answer') return JSON.parse(new TextDecoder().decode(end.output)) as SchemaAnswer;
  return { unusable: FAILURES[end.type] };
}

const FAILURES: Readonly<Record<Exclude<ProgramEnd['type'], 'answer'>, string>> = {
  timeout: TEXTS.checkTooSlow(TIMEOUT_MS / 1000),
  memory: 'validating it takes too much memory',
  output: 'it is too complex',
  failed: 'it is too complex',
};

function unusable(reason: string, path: string): GatewayError {
  const message = TEXTS.unusableSchema(path, reason);
  return new GatewayError('invalid_request', message, { param: path });
}

function isSmall(schema: JsonObject): boolean {
  return countObjects(schema) <= MOST_OBJECTS_AT_ONCE;
}

/** Counts the objects of a schema, including those nested beyond the permitted depth. */
function countObjects(schema: JsonObject): number {
  let objects = 0;
  const waiting: (JsonValue | undefined)[] = [schema];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (isJsonObject(value)) {
      objects++;
      for (const name in value) waiting.push(value[name] ?? null);
    } else if (Array.isArray(value)) for (const each of value) waiting.push(each);
  }
  return objects;
}
