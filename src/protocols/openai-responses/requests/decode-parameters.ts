// Decodes the plain parameters of a Responses request: limits, response format, reasoning, and storage options. Ranges:
// OpenAI API reference, "Create a model response".
import { isJsonObject, type JsonObject } from '../../../base/json/index.ts';
import {
  INCLUDABLE,
  type Part,
  type Problems,
  type PromptRequest,
  type ReasoningRequest,
  type Report,
  type ResponseFormat,
  type StateRequest,
  TEXTS,
} from '../../../canonical/index.ts';
import { decodeSchemaFormat } from '../../openai/decode-schema-format.ts';
import { readEffort } from '../../openai/decode-members.ts';
import {
  describe,
  type Member,
  POSITIVE,
  readBoolean,
  readNumber,
  readObject,
  readString,
  readStrings,
  readOneOf,
  requireObject,
  requireString,
} from '../../members/read-member.ts';
import { decodePart, OUTPUT_PARTS } from './decode-parts.ts';

const LEVELS = ['low', 'medium', 'high'] as const;
const SUMMARIES = ['auto', 'concise', 'detailed', 'none'] as const;
/** Members of `reasoning` in other protocols, which have no meaning here. */
const FOREIGN_REASONING = ['enabled', 'max_tokens', 'exclude'] as const;

export interface TextOptions {
  readonly responseFormat: ResponseFormat | undefined;
  readonly verbosity: string | undefined;
}

/** Decodes `text`: the response format, which is flat in this protocol, and the verbosity. */
export function decodeText(value: Member, problems: Problems): TextOptions {
  const text = readObject(value, 'text', problems);
  return {
    responseFormat: decodeFormat(text?.['format'], problems),
    verbosity: readOneOf(text?.['verbosity'], 'text.verbosity', problems, LEVELS),
  };
}

function decodeFormat(value: Member, problems: Problems): ResponseFormat | undefined {
  const raw = readObject(value, 'text.format', problems);
  if (!raw) return undefined;
  const types = ['text', 'json_object', 'json_schema'] as const;
  const type = readOneOf(raw['type'] ?? '', 'text.format.type', problems, types);
  if (type !== 'json_schema') return type && { type };
  requireObject(raw['schema'], 'text.format.schema', problems);
  return decodeSchemaFormat(raw, 'text.format', problems);
}

/** Decodes `reasoning`. A summary is only sent if requested, as in OpenAI's API. */
export function decodeReasoning(value: Member, problems: Problems, report: Report): ReasoningRequest {
  const raw = readObject(value, 'reasoning', problems) ?? {};
  const summary = readOneOf(raw['summary'], 'reasoning.summary', problems, SUMMARIES);
  const generate = readOneOf(raw['generate_summary'], 'reasoning.generate_summary', problems, SUMMARIES);
  for (const key of FOREIGN_REASONING)
    if (raw[key] !== undefined)
      report.add(`reasoning.${key}`, 'dropped', 'not a member of reasoning in the Responses API');
  return {
    ...readEffort(raw['effort'], 'reasoning.effort', problems),
    summary: summary ?? generate ?? 'none',
  };
}

/** Decodes all options of the gateway's storage, and of what the answer includes. */
export function decodeState(body: JsonObject, problems: Problems): StateRequest {
  const previousResponseId =
    readString(body['previous_response_id'], 'previous_response_id', problems) || undefined;
  requirePrefix(previousResponseId, 'resp', 'previous_response_id', problems);
  const conversationId = decodeConversation(body['conversation'], problems);
  if (previousResponseId !== undefined && conversationId !== undefined)
    problems.add('previous_response_id', 'cannot be used together with conversation');
  const background = readBoolean(body['background'], 'background', problems) === true;
  const { instructions } = body;
  return {
    previousResponseId,
    conversationId,
    store: readBoolean(body['store'], 'store', problems) ?? true,
    prompt: decodePrompt(body['prompt'], problems),
    truncation:
      readOneOf(body['truncation'], 'truncation', problems, ['auto', 'disabled'] as const) ?? 'disabled',
    include: decodeInclude(body['include'], problems),
    maxToolCalls: readNumber(body['max_tool_calls'], 'max_tool_calls', problems, POSITIVE),
    safetyIdentifier: readString(body['safety_identifier'], 'safety_identifier', problems),
    promptCacheKey: readString(body['prompt_cache_key'], 'prompt_cache_key', problems),
    promptCacheRetention: readString(body['prompt_cache_retention'], 'prompt_cache_retention', problems),
    background,
    instructions:
      typeof instructions === 'string'
        ? instructions
        : Array.isArray(instructions)
          ? instructions.filter(isJsonObject)
          : undefined,
  };
}

/** Rejects ids of another kind with OpenAI's code and message ("Expected an ID that begins with 'resp'"), 2026-08. */
function requirePrefix(id: string | undefined, prefix: string, path: string, problems: Problems): void {
  if (id === undefined || id.startsWith(`${prefix}_`)) return;
  const given = JSON.stringify(id.slice(0, 100));
  problems.add(
    path,
    `must be an id that begins with \`${prefix}_\` (got ${given})`,
    undefined,
    'invalid_value',
  );
}

function decodeInclude(value: Member, problems: Problems): ReadonlySet<string> {
  const words = readStrings(value, 'include', problems) ?? [];
  words.forEach((word, index) => {
    if (!INCLUDABLE.has(word))
      problems.add(`include[${index}]`, TEXTS.mustBeOneOf([...INCLUDABLE].join(', ')));
  });
  return new Set(words);
}

function decodeConversation(value: Member, problems: Problems): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' || isJsonObject(value)) {
    const path = typeof value === 'string' ? 'conversation' : 'conversation.id';
    const id = requireString(typeof value === 'string' ? value : value['id'], path, problems);
    requirePrefix(id || undefined, 'conv', path, problems);
    return id;
  }
  problems.add('conversation', `must be an id or an object with an id, not ${describe(value)}`);
  return undefined;
}

function decodePrompt(value: Member, problems: Problems): PromptRequest | undefined {
  const raw = readObject(value, 'prompt', problems);
  if (!raw) return undefined;
  const id = requireString(raw['id'], 'prompt.id', problems);
  const version = readString(raw['version'], 'prompt.version', problems) || undefined;
  const given = readObject(raw['variables'], 'prompt.variables', problems) ?? {};
  const variables: [string, string | Part][] = [];
  for (const [name, variable] of Object.entries(given)) {
    const path = `prompt.variables.${name.slice(0, 64)}`;
    const part = typeof variable === 'string' ? variable : decodePart(variable, path, OUTPUT_PARTS, problems);
    if (part !== undefined) variables.push([name, part]);
  }
  return id === undefined ? undefined : { id, version, variables: Object.fromEntries(variables) };
}
