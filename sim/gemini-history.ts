// Validates `contents` like the Gemini API: roles, parts with one kind of data, calls and their responses in adjacent
// turns, and signatures that are sent back on their parts (documentation "Thought signatures", 2026-11). Messages
// imitate the API's own.
import type { JsonObject, JsonValue } from '../src/base/json/index.ts';
import { asArray, asString, isJsonArray, isJsonObject } from '../src/base/json/index.ts';
import type { RequestProblems } from './request-problems.ts';
import { unknownKey } from './conversation.ts';
import { camel } from './gemini-json.ts';
import { partIsGenuine } from './gemini-seal.ts';
import type { SimTraits } from './models.ts';

/** A content with normalized member names, also in its parts. */
export interface SimContent {
  readonly role: 'user' | 'model';
  readonly parts: readonly JsonObject[];
}

const CONTENT_KEYS = keys('role parts');
const DATA_KEYS =
  'text inlineData functionCall functionResponse fileData executableCode codeExecutionResult toolCall toolResponse'.split(
    ' ',
  );
const PART_KEYS = new Set([
  ...DATA_KEYS,
  ...keys('thought thoughtSignature videoMetadata mediaResolution partMetadata'),
]);
const CALL_KEYS = keys('id name args');
const RESPONSE_KEYS = keys('id name response parts willContinue scheduling');

function keys(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}

/** Contents of a request, even if it is invalid. */
export function contentsOf(value: JsonValue | undefined): readonly SimContent[] {
  return asArray(value).map((content) => {
    const { role, parts } = camel(content);
    return { role: role === 'model' ? 'model' : 'user', parts: asArray(parts).map(camel) };
  });
}

/** Google's error for an unknown member. @param at path in the original spelling, '' at the top */
export function refuseUnknown(
  object: JsonObject,
  known: ReadonlySet<string>,
  at: string,
  problems: RequestProblems,
): void {
  const key = unknownKey(object, known);
  if (key === undefined) return;
  const where = at === '' ? '' : ` at '${at}'`;
  problems.add(
    `Invalid JSON payload received. Unknown name "${key}"${where}: Cannot find field.`,
    at === '' ? key : `${at}.${key}`,
  );
}

/** Adds the problems of `contents`. */
export function checkContents(
  value: JsonValue | undefined,
  traits: SimTraits,
  problems: RequestProblems,
): void {
  if (!isJsonArray(value) || value.length === 0)
    return problems.add('* GenerateContentRequest.contents: contents is not specified', 'contents');
  value.forEach((given, i) => {
    const content = camel(given);
    refuseUnknown(content, CONTENT_KEYS, `contents[${i}]`, problems);
    const { role } = content;
    if (role !== undefined && role !== 'user' && role !== 'model')
      problems.add('Please use a valid role: user, model.', `contents[${i}].role`);
    const parts = asArray(content['parts']);
    if (parts.length === 0)
      problems.add(
        `* GenerateContentRequest.contents[${i}].parts: contents.parts must not be empty.`,
        `contents[${i}].parts`,
      );
    parts.forEach((part, j) => checkPart(part, `contents[${i}].parts[${j}]`, traits, problems));
  });
  const contents = contentsOf(value);
  checkTurns(contents, problems);
  if (traits.reasoning !== 'none') checkSignatures(contents, problems);
}

function checkPart(given: JsonValue, path: string, traits: SimTraits, problems: RequestProblems): void {
  const part = camel(given);
  refuseUnknown(part, PART_KEYS, path, problems);
  const data = DATA_KEYS.filter((key) => part[key] !== undefined);
  if (data.length !== 1)
    problems.add(
      `* GenerateContentRequest.${path}.data: required oneof field 'data' must have one initialized field`,
      path,
    );
  const { functionCall, functionResponse } = part;
  if (functionCall !== undefined) {
    if (!traits.tools) problems.add('Function calling is not enabled for this model.', path);
    checkNamed(functionCall, CALL_KEYS, 'args', `${path}.function_call`, problems);
  }
  if (functionResponse !== undefined)
    checkNamed(functionResponse, RESPONSE_KEYS, 'response', `${path}.function_response`, problems);
  const signature = part['thoughtSignature'];
  if (signature !== undefined && !partIsGenuine(part, asString(signature) ?? ''))
    problems.add('Thought signature is not valid.', `${path}.thought_signature`);
}

/** Checks a call or response: its name, and the member that must be an object. */
function checkNamed(
  given: JsonValue,
  known: ReadonlySet<string>,
  member: 'args' | 'response',
  path: string,
  problems: RequestProblems,
): void {
  const named = camel(given);
  refuseUnknown(named, known, path, problems);
  if (!asString(named['name']))
    problems.add(
      `* GenerateContentRequest.${path}.name: [FIELD_INVALID] Name cannot be empty.`,
      `${path}.name`,
    );
  const value = named[member];
  if (!isJsonObject(value) && (value !== undefined || member === 'response'))
    problems.add(`Invalid value at '${path}.${member}' (type.googleapis.com/google.protobuf.Struct)`, path);
}

/** Responses must directly follow their calls, in equal number, and with the same names and ids. */
function checkTurns(contents: readonly SimContent[], problems: RequestProblems): void {
  const turns = mergeTurns(contents);
  turns.forEach(({ role, parts }, t) => {
    const calls = named(parts, 'functionCall');
    const responses = named(parts, 'functionResponse');
    if (calls.length > 0 && (role !== 'model' || t === 0))
      problems.add(
        'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      );
    if (
      responses.length > 0 &&
      (role !== 'user' || named(turns[t - 1]?.parts ?? [], 'functionCall').length === 0)
    )
      problems.add('Please ensure that function response turn comes immediately after a function call turn.');
    if (calls.length === 0) return;
    const answers = named(turns[t + 1]?.parts ?? [], 'functionResponse');
    if (!isAnswered(calls, answers))
      problems.add(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      );
  });
}

/** Merges adjacent contents of one role into one turn. */
function mergeTurns(contents: readonly SimContent[]): { role: string; parts: JsonObject[] }[] {
  const turns: { role: string; parts: JsonObject[] }[] = [];
  for (const { role, parts } of contents) {
    const last = turns.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else turns.push({ role, parts: [...parts] });
  }
  return turns;
}

/** Calls or responses among parts. */
export function named(
  parts: readonly JsonObject[],
  kind: 'functionCall' | 'functionResponse',
): readonly {
  readonly name: string;
  readonly id: string | undefined;
  readonly response: JsonValue | undefined;
}[] {
  return parts
    .filter((part) => part[kind] !== undefined)
    .map((part) => {
      const { name, id, response } = camel(part[kind]);
      return { name: asString(name) ?? '', id: asString(id), response };
    });
}

type Named = ReturnType<typeof named>;

function isAnswered(calls: Named, answers: Named): boolean {
  const open = [...answers];
  for (const call of calls) {
    const at = open.findIndex(
      ({ name, id }) => name === call.name && (id === undefined || call.id === undefined || id === call.id),
    );
    if (at < 0) return false;
    open.splice(at, 1);
  }
  return open.length === 0;
}

/** In the current turn, the first call of every step must have a signature. */
function checkSignatures(contents: readonly SimContent[], problems: RequestProblems): void {
  const start = contents.findLastIndex(
    ({ role, parts }) => role === 'user' && parts.some((part) => part['functionResponse'] === undefined),
  );
  contents.slice(start + 1).forEach(({ role, parts }, step) => {
    const first = role === 'model' ? parts.find((part) => part['functionCall'] !== undefined) : undefined;
    if (first === undefined || first['thoughtSignature'] !== undefined) return;
    const name = asString(camel(first['functionCall'])['name']) ?? '';
    problems.add(
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`${name}\`, position ${start + 1 + step + 1}.`,
    );
  });
}
