// Answer formats for upstreams that do not enforce them: an instruction, a validation, and one repair attempt.
// Requirement 7.5; never a forced tool, which would exclude reasoning and break streaming.
import { Ajv, type ValidateFunction } from 'ajv';
import type {
  CanonicalRequest,
  CollectedEvents,
  Item,
  JsonValue,
  Quirks,
  Report,
  ResponseFormat,
} from '../canonical/index.ts';
import { GatewayError, parseJson } from '../canonical/index.ts';

export interface FormatEmulation {
  /** The request with what the upstream can do, and the instruction for the rest. */
  readonly request: CanonicalRequest;
  /**
   * Judges an answer.
   * @returns its JSON text, or what is wrong with it; null when the format does not apply (a tool call, a refusal)
   */
  check(
    events: CollectedEvents,
  ): { readonly json: string } | { readonly problem: string; readonly text: string } | null;
  /** The request that asks the model to mend its answer. */
  repair(text: string, problem: string): CanonicalRequest;
  readonly strict: boolean;
}

/** Largest schema that is compiled, in characters. */
const MAX_SCHEMA_CHARS = 100_000;

/**
 * What to do about the answer format at an upstream with this ability; null when it enforces the format itself.
 * Throws GatewayError when the schema cannot be compiled.
 * @param schemasOnly true where the protocol has no form for JSON without a schema
 */
export function emulateFormat(
  request: CanonicalRequest,
  ability: Quirks['structuredOutput'],
  schemasOnly: boolean,
  report: Report,
): FormatEmulation | null {
  const format = request.responseFormat;
  if (!format || format.type === 'text' || isEnforced(format, ability, schemasOnly)) return null;
  report.add(
    'response_format',
    'approximated',
    'the upstream does not enforce it: instructed, validated, and repaired once if needed',
  );
  const validate = format.type === 'json_schema' && format.schema ? compile(format.schema) : null;
  const instructed: CanonicalRequest = {
    ...request,
    responseFormat: ability === 'json_object' ? { type: 'json_object' } : undefined,
    items: [
      { type: 'message', role: 'system', parts: [{ type: 'text', text: instruction(format) }] },
      ...request.items,
    ],
  };
  return {
    request: instructed,
    strict: format.type === 'json_schema' && format.strict === true,
    check(events) {
      const text = visibleText(events);
      if (text === null) return null;
      const json = extractJson(text);
      const value = parseJson(json);
      if (value === undefined) return { problem: 'it is not valid JSON', text };
      if (
        format.type === 'json_object' &&
        (typeof value !== 'object' || value === null || Array.isArray(value))
      )
        return { problem: 'it is not a JSON object', text };
      if (validate && !satisfies(validate, value)) return { problem: describe(validate), text };
      return { json };
    },
    repair: (text, problem) => ({
      ...instructed,
      items: [
        ...instructed.items,
        { type: 'message', role: 'assistant', parts: [{ type: 'text', text }] },
        {
          type: 'message',
          role: 'user',
          parts: [
            {
              type: 'text',
              text: `Your answer does not have the required form: ${problem}. Answer again with the corrected JSON only.`,
            },
          ],
        },
      ],
    }),
  };
}

function isEnforced(
  format: ResponseFormat,
  ability: Quirks['structuredOutput'],
  schemasOnly: boolean,
): boolean {
  if (schemasOnly && (format.type !== 'json_schema' || format.schema === undefined)) return false;
  return ability === 'json_schema' || (format.type === 'json_object' && ability === 'json_object');
}

/** The same answer with its visible text replaced by the JSON that was found in it. */
export function withText(events: CollectedEvents, json: string): CollectedEvents {
  let placed = false;
  const items: Item[] = [];
  for (const item of events.items) {
    if (item.type !== 'message') items.push(item);
    else if (!placed) {
      placed = true;
      items.push({ ...item, source: undefined, parts: [{ type: 'text', text: json }] });
    }
  }
  return { ...events, items };
}

function instruction(format: ResponseFormat): string {
  if (format.type !== 'json_schema')
    return 'Answer with one JSON object and nothing else: no explanation, no code fence.';
  const purpose = format.description ? ` (${format.description})` : '';
  const schema = format.schema ? ` that satisfies this JSON Schema:\n${JSON.stringify(format.schema)}` : '';
  return `Answer with the JSON value "${format.name}"${purpose} and nothing else: no explanation, no code fence. It must be valid JSON${schema}`;
}

/** Compiled schemas by their text: clients send the same few with every request. Oldest out first. */
const compiled = new Map<string, ValidateFunction>();
const MAX_COMPILED = 64;

function compile(schema: object): ValidateFunction {
  const text = JSON.stringify(schema);
  const known = compiled.get(text);
  if (known) return known;
  if (text.length > MAX_SCHEMA_CHARS) {
    throw new GatewayError('invalid_request', `the schema is larger than ${MAX_SCHEMA_CHARS} characters`, {
      param: 'response_format.json_schema.schema',
    });
  }
  try {
    // Optimised code costs three times as much to make as it ever saves here.
    const code = { optimize: false };
    const ajv = new Ajv({ strict: false, allErrors: false, validateFormats: false, logger: false, code });
    // A hostile pattern can take seconds to fail: the model is told of it, the answer is not held to it.
    ajv.removeKeyword('pattern');
    const validate = ajv.compile(schema);
    const [oldest] = compiled.keys();
    if (compiled.size >= MAX_COMPILED && oldest !== undefined) compiled.delete(oldest);
    compiled.set(text, validate);
    return validate;
  } catch (error) {
    throw unusable(error);
  }
}

/** A schema can compile and still be without end, such as one that refers to itself. */
function satisfies(validate: ValidateFunction, value: JsonValue): boolean {
  try {
    return validate(value);
  } catch (error) {
    throw unusable(error);
  }
}

function unusable(error: unknown): GatewayError {
  const reason = error instanceof Error ? error.message : String(error);
  const param = 'response_format.json_schema.schema';
  return new GatewayError('invalid_request', `${param}: the schema cannot be used: ${reason}`, { param });
}

function describe(validate: ValidateFunction): string {
  const first = validate.errors?.[0];
  return first
    ? `${first.instancePath || 'the value'} ${first.message ?? 'is invalid'}`
    : 'it does not satisfy the schema';
}

/** The answer's text; null when there is none to check. */
function visibleText(events: CollectedEvents): string | null {
  if (events.items.some((item) => item.type === 'tool_call')) return null;
  const parts = events.items.flatMap((item) => (item.type === 'message' ? item.parts : []));
  if (parts.some((part) => part.type === 'refusal')) return null;
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** The JSON inside a code fence or between other words, else the trimmed text. */
function extractJson(text: string): string {
  const trimmed = text.trim();
  if (parseJson(trimmed) !== undefined) return trimmed;
  const fenced = /```(?:json)?\s*\n([\s\S]*?)\n?```/.exec(trimmed)?.[1]?.trim();
  if (fenced !== undefined && parseJson(fenced) !== undefined) return fenced;
  const from = trimmed.search(/[{[]/);
  const to = Math.max(trimmed.lastIndexOf('}'), trimmed.lastIndexOf(']'));
  const inner = from >= 0 && to > from ? trimmed.slice(from, to + 1) : '';
  return parseJson(inner) === undefined ? trimmed : inner;
}
