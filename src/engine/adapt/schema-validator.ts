// Validates JSON values against JSON Schemas from requests, including hostile ones: nothing is fetched, and size,
// depth and time are bounded.
import { _, Ajv, str, type AnySchemaObject, type CodeKeywordDefinition, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { default as refKeyword } from 'ajv/dist/vocabularies/core/ref.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { type Budget, CompiledCache, compilePattern, grammarCapacity, type Room } from '../grammar/index.ts';
import { MAX_SCHEMA_CHARS } from './schema-answer.ts';
import { mostReferences } from './schema-references.ts';
import { STRING_FORMATS } from './string-formats.ts';
import { errorText } from '../../base/lib/errors.ts';

export interface SchemaValidator {
  /**
   * Checks a value. Null: it matches. Throws GatewayError when validation does not terminate, because a schema can
   * refer to itself twice for each member.
   * @param path of the schema in the client's body
   */
  problemOf(value: JsonValue, path: string): string | null;
  /** Schema requirements that are not checked, as text. Empty: all are checked. */
  readonly unchecked: readonly string[];
}

/** Maximum nesting depth of a schema. */
const DEEPEST = 100;
/** Maximum objects in a schema; each takes about 0.25 ms to compile. */
const MOST_OBJECTS = 3_000;
/** Maximum distinct patterns in a schema. The validator's own work grows with the square of their number. */
const MOST_PATTERNS = 200;
/** Maximum unchecked requirements that are reported. */
const MOST_UNCHECKED = 5;
/** Maximum references followed for one value. A schema can double them at each level. */
const MOST_REFERENCES = 50_000;
const ENDLESS_REFERENCE = 'it refers to itself endlessly';
const TOO_MANY_REFERENCES = 'it refers to itself too often';
/** Maximum steps of all patterns together for one value. */
const MOST_PATTERN_STEPS = 1_000_000;

/** Compiled schemas, by schema text. */
const compiled = new CompiledCache<SchemaValidator>();
/** Weight of the code for one object, about 10 kB, in states of a pattern's automaton. */
const OBJECT_WEIGHT = 16;

/**
 * Compiles a schema.
 * @param path of the schema in the client's body
 * @throws GatewayError `invalid_request` for an unusable schema
 */
export function compileSchema(schema: JsonObject, path: string): SchemaValidator {
  const text = JSON.stringify(schema);
  const known = compiled.get(text);
  if (known) return known;
  if (text.length > MAX_SCHEMA_CHARS)
    throw new GatewayError('invalid_request', `The schema is larger than ${MAX_SCHEMA_CHARS} characters.`, {
      param: path,
    });
  const room = grammarCapacity();
  const { states } = room;
  const { validator, objects } = compile(schema, path, room);
  compiled.set(text, validator, states - room.states + objects * OBJECT_WEIGHT);
  return validator;
}

/** Remaining budget of one check. Checks never run concurrently. */
interface Limits {
  references: number;
  readonly patterns: Budget;
}

/** Members of a regular expression that Ajv uses. It treats two with the same text as identical. */
interface RegExpLike {
  test(text: string): boolean;
  toString(): string;
}
const UNCHECKED_PATTERN: RegExpLike = { test: () => true, toString: () => 'no pattern' };

/** Information collected while a schema is compiled. */
interface Facts {
  readonly limits: Limits;
  readonly unchecked: Set<string>;
  /** Patterns that match property names. */
  readonly namePatterns: ReadonlySet<string>;
  /** Capacity shared by all patterns. */
  readonly room: Room;
}

interface Compiled {
  readonly validator: SchemaValidator;
  /** Number of objects in the schema. */
  readonly objects: number;
}

function compile(schema: JsonObject, path: string, room: Room): Compiled {
  const unchecked = new Set<string>();
  // Also covers the validation of the schema itself against its meta-schema.
  const limits: Limits = { references: MOST_REFERENCES, patterns: { steps: MOST_PATTERN_STEPS } };
  let validate: ValidateFunction;
  let objects: number;
  try {
    const read = readSchema(schema);
    const { namePatterns } = read;
    objects = read.objects;
    validate = ajvFor(schema, { limits, unchecked, namePatterns, room }, path).compile(usable(schema));
    // Detects cycles between subschemas with their own `$id`, which cannot be counted beforehand.
    for (const probe of [null, {}]) {
      limits.references = MOST_REFERENCES;
      validate(probe);
    }
  } catch (error) {
    throw unusable(error, path);
  }
  const validator: SchemaValidator = {
    unchecked: [...unchecked],
    problemOf(value, from) {
      limits.references = MOST_REFERENCES;
      limits.patterns.steps = MOST_PATTERN_STEPS;
      try {
        return validate(value) ? null : describe(validate);
      } catch (error) {
        if (isOutOfStack(error)) return 'it is nested too deeply';
        throw unusable(error, from);
      }
    },
  };
  return { validator, objects };
}

/**
 * The draft is taken from `$schema`, otherwise from how the schema writes tuples. References are never fetched,
 * because Ajv gets no loader.
 */
function ajvFor(
  schema: JsonObject,
  { limits, unchecked, namePatterns, room }: Facts,
  path: string,
): Ajv | Ajv2020 {
  const isOld = /draft-0[4-7]/.test(String(schema['$schema'] ?? '')) || hasTuple(schema);
  let patterns = 0;
  const compiledPattern = (pattern: string): RegExpLike => {
    try {
      if (++patterns > MOST_PATTERNS) throw new GatewayError('unsupported', 'there are too many');
      const matches = compilePattern(pattern, path, room);
      return { test: (text) => matches(text, limits.patterns), toString: () => `pattern ${pattern}` };
    } catch (error) {
      // A pattern for property names must be checkable, otherwise the wrong properties would be refused.
      const isName = namePatterns.has(pattern);
      if (!(error instanceof GatewayError) || error.kind !== 'unsupported' || isName) throw error;
      if (unchecked.size < MOST_UNCHECKED)
        unchecked.add(`the pattern ${pattern.slice(0, 100)} (${error.message})`);
      return UNCHECKED_PATTERN;
    }
  };
  const ajv = new (isOld ? Ajv : Ajv2020)({
    strict: false,
    allErrors: false,
    logger: false,
    // Inlining would copy a large definition to each place that refers to it.
    inlineRefs: false,
    // Optimising takes three times as long as it could save here.
    code: {
      optimize: false,
      // The runtime's own regular expressions can take seconds on a hostile pattern.
      regExp: Object.assign(compiledPattern, { code: 'undefined' }),
    },
  });
  for (const [name, validate] of Object.entries(STRING_FORMATS))
    ajv.addFormat(name, { type: 'string', validate });
  // Ajv divides, and so does not accept 19.99 as a multiple of 0.01.
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    error: { message: ({ schemaCode }) => str`must be multiple of ${schemaCode}` },
    validate: isMultiple,
  });
  // Ajv compares every pair of members, in quadratic time.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not contain duplicate elements' },
    validate: (wanted: boolean, values: readonly JsonValue[]) =>
      !wanted || new Set(values.map(sorted)).size === values.length,
  });
  const followed = (): void => {
    if (--limits.references < 0) throw new RangeError(TOO_MANY_REFERENCES);
  };
  ajv.removeKeyword('$ref');
  ajv.addKeyword({
    ...refKeyword,
    code(context) {
      context.gen.code(_`${context.gen.scopeValue('keyword', { ref: followed })}()`);
      (refKeyword as CodeKeywordDefinition).code(context);
    },
  } as CodeKeywordDefinition);
  return ajv;
}

/** The schema without the keywords that address the validator. */
function usable(schema: JsonObject): AnySchemaObject {
  const { $schema: _schema, $async: _async, ...rest } = schema;
  return rest;
}

function hasTuple(schema: JsonValue | undefined): boolean {
  if (Array.isArray(schema)) return schema.some(hasTuple);
  if (!isJsonObject(schema)) return false;
  return Array.isArray(schema['items']) || Object.values(schema).some(hasTuple);
}

/**
 * @returns the patterns of `patternProperties` and the number of objects. Throws RangeError for a schema with too
 * many objects or levels.
 */
function readSchema(schema: JsonObject): Pick<Facts, 'namePatterns'> & Pick<Compiled, 'objects'> {
  const namePatterns = new Set<string>();
  const objects: JsonObject[] = [];
  const visit = (value: JsonValue | undefined, depth: number): void => {
    if (typeof value !== 'object' || value === null) return;
    if (depth > DEEPEST) throw new RangeError(`it is more than ${DEEPEST} levels deep`);
    if (isJsonObject(value) && objects.push(value) > MOST_OBJECTS)
      throw new RangeError(`it has more than ${MOST_OBJECTS} objects`);
    for (const child of Object.values(value)) visit(child as JsonValue | undefined, depth + 1);
    const named = Array.isArray(value) ? undefined : (value as JsonObject)['patternProperties'];
    if (isJsonObject(named)) for (const pattern of Object.keys(named)) namePatterns.add(pattern);
  };
  visit(schema, 0);
  const references = mostReferences(schema, objects);
  if (references === Infinity) throw new RangeError(ENDLESS_REFERENCE);
  if (references > MOST_REFERENCES) throw new RangeError(TOO_MANY_REFERENCES);
  return { namePatterns, objects: objects.length };
}

/** Floating-point error: half a unit in the last place for each operand, and for the quotient. */
function isMultiple(of: number, value: number): boolean {
  if (value % of === 0) return true;
  if (Number.isInteger(value) && Number.isInteger(of)) return false;
  const times = value / of;
  return Math.abs(Math.round(times) - times) <= 2 * Number.EPSILON * Math.abs(times);
}

/** Canonical JSON text, identical for equal values. */
function sorted(value: JsonValue): string {
  return JSON.stringify(value, (_key, inner: JsonValue) =>
    isJsonObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function isOutOfStack(error: unknown): boolean {
  return error instanceof RangeError && /call stack/i.test(error.message);
}

function unusable(error: unknown, path: string): GatewayError {
  const said = errorText(error);
  const reason = isOutOfStack(error) ? `it is too complex, or ${ENDLESS_REFERENCE}` : said;
  return new GatewayError('invalid_request', TEXTS.unusableSchema(path, reason), {
    param: path,
  });
}

function describe(validate: ValidateFunction): string {
  const first = validate.errors?.[0];
  if (!first) return 'it does not satisfy the schema';
  const extra: unknown = first.params['additionalProperty'];
  const which = typeof extra === 'string' ? `: ${JSON.stringify(extra.slice(0, 100))}` : '';
  return `${first.instancePath || 'the value'} ${first.message ?? 'is invalid'}${which}`;
}
