// The Gemini API in the simulated service (`generateContent`, `streamGenerateContent`, `countTokens`): parses
// validated requests and encodes errors. `gemini-answer.ts` encodes answers.
import type { JsonObject, JsonValue } from '../src/base/json/index.ts';
import { asArray, asNumber, asObject, asString, isJsonObject } from '../src/base/json/index.ts';
import type { SimError, RequestProblems } from './request-problems.ts';
import { automaticCache, budgetTokens, EFFORT_TOKENS } from './conversation.ts';
import type { Dialect } from './dialect.ts';
import { geminiFailure, googleStatus } from './failures.ts';
import { encodeGemini, encodeGeminiFrames } from './gemini-answer.ts';
import { checkGemini } from './gemini-check.ts';
import { checkContents, contentsOf, named, refuseUnknown } from './gemini-history.ts';
import type { SimContent } from './gemini-history.ts';
import { camel, jsonSchema } from './gemini-json.ts';
import type { SimTraits } from './models.ts';
import type { Question, SimChoice, SimTool } from './question.ts';
import { dataFrame } from './sse.ts';
import { countTokens } from './tokens.ts';

export const geminiDialect: Dialect = {
  protocol: 'gemini',
  requestIdHeader: 'x-request-id',
  check: checkGemini,
  read,
  encode: encodeGemini,
  encodeFrames: encodeGeminiFrames,
  encodeError,
  words: geminiFailure,
  encodeErrorFrame: () => dataFrame(encodeError(geminiFailure(503, 'plain', 0))),
  unknownFrame: dataFrame({ telemetry: { load: 0.5 } }),
  malformedFrame: 'data: {"candidates":[{"content":{"parts":[\n\n',
};

const COUNT_KEYS = new Set(['contents', 'generateContentRequest', 'model']);

/** Answers `countTokens` for bare contents or a whole request; null if there are problems. */
export function countGemini(
  body: JsonObject,
  traits: SimTraits,
  problems: RequestProblems,
): JsonObject | null {
  const asked = camel(body);
  refuseUnknown(asked, COUNT_KEYS, '', problems);
  const { contents, generateContentRequest: whole } = asked;
  if (contents !== undefined && whole !== undefined)
    problems.add('Only one of contents and generate_content_request may be set.', 'contents');
  if (isJsonObject(whole)) checkGemini(whole, traits, new Headers(), problems);
  else checkContents(contents, traits, problems);
  if (problems.first) return null;
  const tokenCount = inputTokens(isJsonObject(whole) ? camel(whole) : asked);
  return { totalTokens: tokenCount, promptTokensDetails: [{ modality: 'TEXT', tokenCount }] };
}

function inputTokens(request: JsonObject): number {
  return (
    countTokens(request['contents']) +
    countTokens(request['systemInstruction']) +
    countTokens(request['tools'])
  );
}

function read(body: JsonObject, traits: SimTraits, seed: string): Question {
  const request = camel(body);
  const all = contentsOf(request['contents']);
  const prefill = prefillOf(all.at(-1));
  const contents = prefill === '' ? all : all.slice(0, -1);
  const users = contents.filter(isFromUser);
  const lastUser = users.at(-1)?.parts ?? [];
  const sinceUser = contents.slice(contents.findLastIndex(isFromUser) + 1);
  const config = camel(request['generationConfig']);
  const tools = asArray(request['tools']).map(camel);
  const tokens = inputTokens(request);
  const lastAnswer = contents.findLastIndex(({ role }) => role === 'model');
  const since = lastAnswer < 0 ? tokens : countTokens(asArray(request['contents']).slice(lastAnswer));
  return {
    model: asString(request['model']) ?? '',
    seed,
    userText: textOf(lastUser),
    turn: users.length,
    images: countMedia(lastUser, true),
    files: countMedia(lastUser, false),
    prefill,
    toolResults: named(contents.at(-1)?.parts ?? [], 'functionResponse').map(({ name, response }) => ({
      name,
      text: resultText(asObject(response)),
    })),
    step: sinceUser.reduce((sum, { parts }) => sum + named(parts, 'functionResponse').length, 0),
    ...readTools(tools, camel(camel(request['toolConfig'])['functionCallingConfig'])),
    parallel: true,
    format: readFormat(config),
    reasoningTokens: readReasoning(config['thinkingConfig'], traits),
    webSearch: tools.some((tool) => tool['googleSearch'] !== undefined),
    stop: asArray(config['stopSequences']).filter((sequence) => typeof sequence === 'string'),
    maxTokens: asNumber(config['maxOutputTokens']) ?? null,
    inputTokens: tokens,
    cache: { read: automaticCache(tokens - since), write5m: 0, write1h: 0 },
  };
}

/** True when a user content has more than function responses. */
function isFromUser({ role, parts }: SimContent): boolean {
  return role === 'user' && parts.some((part) => part['functionResponse'] === undefined);
}

function prefillOf(last: SimContent | undefined): string {
  if (last?.role !== 'model') return '';
  return last.parts.some((part) => part['functionCall'] !== undefined) ? '' : textOf(last.parts);
}

function textOf(parts: readonly JsonObject[]): string {
  let text = '';
  for (const part of parts) if (part['thought'] !== true) text += asString(part['text']) ?? '';
  return text;
}

function countMedia(parts: readonly JsonObject[], isImage: boolean): number {
  return parts.filter((part) => {
    const media = part['inlineData'] ?? part['fileData'];
    if (media === undefined) return false;
    return (asString(camel(media)['mimeType']) ?? '').startsWith('image/') === isImage;
  }).length;
}

/**
 * Members in which clients of Google's API put the text of a result (API reference, `FunctionResponse`; the AI SDK;
 * LangChain).
 */
const RESULT_TEXTS = ['output', 'error', 'content', 'result'] as const;

/** Text of a function's result, or else the whole result as JSON. */
function resultText(response: JsonObject): string {
  for (const name of RESULT_TEXTS) {
    const text = response[name];
    if (typeof text === 'string') return text;
  }
  return JSON.stringify(response);
}

function readTools(
  tools: readonly JsonObject[],
  calling: JsonObject,
): { readonly tools: readonly SimTool[]; readonly choice: SimChoice } {
  const allowed = asArray(calling['allowedFunctionNames']);
  const declared = tools.flatMap((tool) => asArray(tool['functionDeclarations']).map(camel));
  const offered = declared.filter(({ name = '' }) => allowed.length === 0 || allowed.includes(name));
  return {
    tools: offered.map(({ name, parameters, parametersJsonSchema }) => ({
      kind: 'function',
      name: asString(name) ?? '',
      schema: jsonSchema(parametersJsonSchema ?? parameters),
    })),
    choice: readChoice((asString(calling['mode']) ?? '').toUpperCase(), allowed),
  };
}

function readChoice(mode: string, allowed: readonly JsonValue[]): SimChoice {
  const [only, ...others] = allowed;
  if (mode === 'NONE') return { type: 'none' };
  if (mode !== 'ANY') return { type: 'auto' };
  return typeof only === 'string' && others.length === 0
    ? { type: 'tool', name: only }
    : { type: 'required' };
}

function readFormat(config: JsonObject): Question['format'] {
  if (config['responseMimeType'] !== 'application/json') return null;
  const schema = config['responseJsonSchema'] ?? config['_responseJsonSchema'] ?? config['responseSchema'];
  return { schema: isJsonObject(schema) ? jsonSchema(schema) : null };
}

function readReasoning(value: JsonValue | undefined, traits: SimTraits): number {
  if (traits.reasoning === 'none') return 0;
  const { thinkingBudget, thinkingLevel } = camel(value);
  const budget = asNumber(thinkingBudget);
  if (budget !== undefined && budget >= 0) return budgetTokens(budget);
  const level = asString(thinkingLevel)?.toLowerCase();
  if (level === undefined && budget === undefined && traits.reasoning === 'on-request') return 0;
  // The lowest level is the API's closest equivalent to no thinking (documentation "Gemini thinking", 2026-11).
  return level === 'minimal' ? 0 : (EFFORT_TOKENS[level ?? 'high'] ?? 0);
}

/** `google.rpc.Status` as JSON. */
function encodeError({ status, message, param, type }: SimError): JsonObject {
  const details =
    param === null
      ? {}
      : {
          details: [
            {
              '@type': 'type.googleapis.com/google.rpc.BadRequest',
              fieldViolations: [{ field: param, description: message }],
            },
          ],
        };
  return { error: { code: status, message, status: type ?? googleStatus(status), ...details } };
}
