// Answer formats that an upstream does not enforce: an instruction, validation, and one repair. A forced tool call is
// not used, because it excludes reasoning and breaks streaming.
import type { JsonObject } from '../../base/json/index.ts';
import type {
  CanonicalRequest,
  CollectedEvents,
  Item,
  Quirks,
  Report,
  ResponseFormat,
} from '../../canonical/index.ts';
import { asObject, asString, isJsonObject, MAX_ANSWER_DEPTH } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import { nestsDeeper, parseJson } from '../../base/json/index.ts';
import {
  type AnswerCheck,
  endedByItself,
  type Chosen,
  type Repair,
  type Validation,
} from './answer-check.ts';
import { openSchema, type SchemaCheck } from './schema-check.ts';

/** Answer formats that an upstream declares. */
export interface FormatAbility {
  readonly structuredOutput: Quirks['structuredOutput'];
  /** True: the protocol cannot request JSON without a schema. */
  readonly schemasOnly: boolean;
  /** True: the upstream is known to enforce the formats that it accepts. */
  readonly faithful: boolean;
}

export interface FormatCheck {
  /** The request in the form that the upstream supports, with an instruction for the rest. */
  readonly request: CanonicalRequest;
  readonly check: AnswerCheck;
}

/** Protocol-independent paths of the format and of its schema. */
const FORMAT_PATH = 'response_format';
const SCHEMA_PATH = 'response_format.json_schema.schema';

/**
 * Returns the check for the answer format at an upstream, or null when none is needed.
 *
 * An upstream that enforces schemas is trusted, with one exception: non-streamed answers in a strict format are also
 * checked unless the upstream is known to be faithful. That is cheap. Streams are not checked, because every token
 * would be delayed until the last. An answer that must be unwrapped is always collected first.
 *
 * @throws GatewayError when a schema that the gateway must check cannot be compiled
 */
export function checkFormat(
  request: CanonicalRequest,
  ability: FormatAbility,
  report: Report,
): FormatCheck | null {
  const format = request.responseFormat;
  if (!format || format.type === 'text') return null;
  if (isEnforced(format, ability)) {
    const isChecked = isStrict(format) && !ability.faithful && !request.stream;
    const validator = isChecked || memberOf(format) !== undefined ? promised(format) : null;
    return validator && { request, check: new FormatAnswerCheck(format, validator, request, report) };
  }
  report.add(
    FORMAT_PATH,
    'approximated',
    'the upstream does not enforce the format: the model is instructed, and the gateway validates the response and has it repaired once if needed',
  );
  const validator =
    format.type === 'json_schema' && format.schema
      ? openSchema(format.schema, report.nameOf(SCHEMA_PATH))
      : null;
  if (validator && validator.unchecked.length > 0)
    report.extend(FORMAT_PATH, 'approximated', `not checked: ${validator.unchecked.join('; ')}`);
  const instructed: CanonicalRequest = {
    ...request,
    responseFormat: ability.structuredOutput === 'json_object' ? { type: 'json_object' } : undefined,
    items: [
      { type: 'message', role: 'system', parts: [{ type: 'text', text: instruction(format) }] },
      ...request.items,
    ],
  };
  return { request: instructed, check: new FormatAnswerCheck(format, validator, instructed, report) };
}

/**
 * The schema that `checkFormat` may have to compile, so that a large one can be prepared. Undefined: the upstream is
 * trusted.
 */
export function schemaToPrepare(
  format: ResponseFormat,
  ability: Pick<FormatAbility, 'structuredOutput' | 'faithful'>,
): JsonObject | undefined {
  if (format.type !== 'json_schema') return undefined;
  const isGuaranteed = ability.faithful && ability.structuredOutput === 'json_schema';
  return isGuaranteed && format.unwrap === undefined ? undefined : format.schema;
}

class FormatAnswerCheck implements AnswerCheck {
  readonly holds = 'everything';
  readonly #format: ResponseFormat;
  readonly #validator: SchemaCheck | null;
  /** The request as it was sent to the upstream. */
  readonly #request: CanonicalRequest;
  readonly #report: Report;

  constructor(
    format: ResponseFormat,
    validator: SchemaCheck | null,
    request: CanonicalRequest,
    report: Report,
  ) {
    this.#format = format;
    this.#validator = validator;
    this.#request = request;
    this.#report = report;
  }

  async validate(events: CollectedEvents, signal: AbortSignal): Promise<Validation> {
    const text = visibleText(events);
    // The format does not apply to calls, refusals and truncated answers.
    if (text === null || !endedByItself(events)) return { type: 'valid', answer: events };
    const json = extractJson(text);
    const problem = await this.#problemOf(json, signal);
    if (problem !== null) return { type: 'invalid', repair: this.#repair(events, text, problem) };
    const member = memberOf(this.#format);
    const wanted = member === undefined ? json : (asString(asObject(parseJson(json))[member]) ?? json);
    return { type: 'valid', answer: wanted === text ? events : withText(events, wanted) };
  }

  #repair(first: CollectedEvents, text: string, problem: string): Repair {
    return {
      request: repairRequest(this.#request, text, problem),
      choose: (repaired, signal) => this.#choose(first, problem, repaired, signal),
    };
  }

  async #choose(
    first: CollectedEvents,
    problem: string,
    repaired: CollectedEvents | GatewayError,
    signal: AbortSignal,
  ): Promise<Chosen | GatewayError> {
    const report = (reason: string): void => this.#report.extend(FORMAT_PATH, 'approximated', reason);
    if (repaired instanceof GatewayError) {
      if (isStrict(this.#format)) return repaired;
      report(`the response does not match the schema and could not be repaired: ${problem}`);
      return { answer: first, isSecond: false };
    }
    const second = await this.validate(repaired, signal);
    if (second.type === 'valid') {
      report(`the first response was repaired by a second call: ${problem}`);
      return { answer: second.answer, isSecond: true };
    }
    if (isStrict(this.#format))
      return new GatewayError(
        'unsupported',
        `The response does not match ${this.#report.nameOf(FORMAT_PATH)}, even after a repair: ${problem}`,
        { code: 'structured_output_failed', fault: 'upstream' },
      );
    report(`the response does not match the schema, even after a repair: ${problem}`);
    return { answer: repaired, isSecond: true };
  }

  /** Problem with the text of an answer. Null: there is none. */
  async #problemOf(json: string, signal: AbortSignal): Promise<string | null> {
    const value = parseJson(json);
    if (value === undefined)
      return nestsDeeper(json, MAX_ANSWER_DEPTH) ? 'it is nested too deeply' : 'it is not valid JSON';
    if (this.#format.type === 'json_object' && !isJsonObject(value)) return 'it is not a JSON object';
    const path = this.#report.nameOf(SCHEMA_PATH);
    return (await this.#validator?.problemOf(value, json, path, signal)) ?? null;
  }
}

function isEnforced(format: ResponseFormat, { structuredOutput, schemasOnly }: FormatAbility): boolean {
  if (schemasOnly && (format.type !== 'json_schema' || format.schema === undefined)) return false;
  return (
    structuredOutput === 'json_schema' ||
    (format.type === 'json_object' && structuredOutput === 'json_object')
  );
}

function isStrict(format: ResponseFormat): boolean {
  return format.type === 'json_schema' && format.strict === true;
}

/** Member whose plain text the client wants. Undefined: it wants the JSON. */
function memberOf(format: ResponseFormat): string | undefined {
  return format.type === 'json_schema' ? format.unwrap : undefined;
}

/**
 * Validator for a schema that the upstream promises to enforce. A schema that the gateway cannot check is left to the
 * upstream.
 */
function promised(format: ResponseFormat): SchemaCheck | null {
  if (format.type !== 'json_schema' || !format.schema) return null;
  let validator: SchemaCheck;
  try {
    validator = openSchema(format.schema, SCHEMA_PATH);
  } catch (error) {
    if (!GatewayError.is(error)) throw error;
    return null;
  }
  const problemOf: SchemaCheck['problemOf'] = (...asked) => validator.problemOf(...asked).catch(() => null);
  return { unchecked: validator.unchecked, problemOf };
}

/**
 * The repair keeps the caller's limits: the maximum tokens of one answer, and the deadline of both. Tools are kept
 * because the conversation contains calls of them, but no call is wanted now.
 */
function repairRequest(request: CanonicalRequest, text: string, problem: string): CanonicalRequest {
  const asked = `Your answer does not have the required form: ${problem}. Answer again with the corrected JSON only.`;
  return {
    ...request,
    ...(request.tools.length > 0 && { toolChoice: { type: 'none' } }),
    items: [
      ...request.items,
      // Most upstreams refuse a message with empty text.
      ...(text.trim() === ''
        ? []
        : [{ type: 'message', role: 'assistant', parts: [{ type: 'text', text }] } satisfies Item]),
      { type: 'message', role: 'user', parts: [{ type: 'text', text: asked }] },
    ],
  };
}

/** The same answer with its visible text replaced by the extracted JSON. */
function withText(events: CollectedEvents, json: string): CollectedEvents {
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

/** Text of the answer. Null: there is none to check. */
function visibleText(events: CollectedEvents): string | null {
  if (events.items.some((item) => item.type === 'tool_call')) return null;
  const parts = events.items.flatMap((item) => (item.type === 'message' ? item.parts : []));
  if (parts.some((part) => part.type === 'refusal')) return null;
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  // A call of a client tool in its native form (`shell_call`) comes without text.
  return text === '' && events.items.some((item) => item.type === 'hosted_call') ? null : text;
}

/** The JSON inside a code fence or surrounding text, otherwise the trimmed text. */
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
