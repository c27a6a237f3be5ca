// Anthropic Messages in the simulated service: parses validated requests, and encodes answers and errors.
// `messages-frames.ts` streams the same content blocks.
import type { JsonObject, JsonValue } from '../src/base/json/index.ts';
import { asArray, asNumber, asObject, asString, isJsonObject, parseJson } from '../src/base/json/index.ts';
import type { SimError } from './request-problems.ts';
import { budgetTokens, contentText, countParts, EFFORT_TOKENS, prefillOf } from './conversation.ts';
import type { Answering, Dialect } from './dialect.ts';
import { anthropicErrorType, anthropicFailure } from './failures.ts';
import { checkMessages, thinks } from './messages-check.ts';
import { encodeMessagesFrames, stopDetails } from './messages-frames.ts';
import type { SimTraits } from './models.ts';
import type { CacheCounts, Question, SimAnswer, SimChoice, SimTool } from './question.ts';
import { sealText, signThinking } from './seal.ts';
import { eventFrame } from './sse.ts';
import { countTokens } from './tokens.ts';

/** A tool is called by the model itself, not by a program that it wrote. */
const DIRECT = { type: 'direct' } as const;

export const messagesDialect: Dialect = {
  protocol: 'anthropic-messages',
  requestIdHeader: 'request-id',
  check: checkMessages,
  read,
  encode,
  encodeFrames: (answering) =>
    encodeMessagesFrames(answering, encodeBlocks(answering), usage(answering), stopReason(answering.answer)),
  encodeError,
  words: anthropicFailure,
  encodeErrorFrame: () =>
    eventFrame('error', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
  unknownFrame: eventFrame('telemetry', { type: 'telemetry', load: 0.5 }),
  malformedFrame: 'event: content_block_delta\ndata: {"type":"content_block_delta","index":\n\n',
};

function read(body: JsonObject, traits: SimTraits, seed: string): Question {
  const all = asArray(body['messages']).map(asObject);
  const prefill = prefillOf(all.at(-1));
  const messages = prefill === '' ? all : all.slice(0, -1);
  const users = messages.filter(isFromUser);
  const lastUser = users.at(-1)?.['content'];
  const sinceUser = messages.slice(messages.findLastIndex(isFromUser) + 1);
  const format = asObject(asObject(body['output_config'])['format']);
  const choice = asObject(body['tool_choice']);
  const tools = asArray(body['tools']).map(asObject);
  return {
    model: asString(body['model']) ?? '',
    seed,
    userText: contentText(lastUser),
    turn: users.length,
    images: countParts(lastUser, ['image']),
    files: countParts(lastUser, ['document']),
    prefill,
    toolResults: readResults(messages),
    step: sinceUser.reduce((sum, message) => sum + countParts(message['content'], ['tool_result']), 0),
    tools: tools.filter((tool) => isJsonObject(tool['input_schema'])).map(readTool),
    choice: readChoice(choice),
    parallel: choice['disable_parallel_tool_use'] !== true,
    format: format['type'] === 'json_schema' ? { schema: asObject(format['schema']) } : null,
    reasoningTokens: readReasoning(body, traits),
    webSearch: tools.some((tool) => (asString(tool['type']) ?? '').startsWith('web_search')),
    stop: asArray(body['stop_sequences']).filter((sequence) => typeof sequence === 'string'),
    maxTokens: asNumber(body['max_tokens']) ?? null,
    ...readCache(body, tools, all),
  };
}

/** True when a user message has more than tool results. */
function isFromUser(message: JsonObject): boolean {
  if (message['role'] !== 'user') return false;
  const blocks = asArray(message['content']);
  return blocks.length === 0 || blocks.some((block) => asObject(block)['type'] !== 'tool_result');
}

function readTool(tool: JsonObject): SimTool {
  return { kind: 'function', name: asString(tool['name']) ?? '', schema: asObject(tool['input_schema']) };
}

function readChoice(choice: JsonObject): SimChoice {
  switch (choice['type']) {
    case 'none':
      return { type: 'none' };
    case 'any':
      return { type: 'required' };
    case 'tool':
      return { type: 'tool', name: asString(choice['name']) ?? '' };
    default:
      return { type: 'auto' };
  }
}

/** Tool results in the last message, with the names of their calls. */
function readResults(messages: readonly JsonObject[]): { name: string; text: string }[] {
  const names = new Map<string, string>();
  for (const message of messages) {
    for (const value of asArray(message['content'])) {
      const block = asObject(value);
      if (block['type'] === 'tool_use') names.set(asString(block['id']) ?? '', asString(block['name']) ?? '');
    }
  }
  return asArray(messages.at(-1)?.['content'])
    .map(asObject)
    .filter((block) => block['type'] === 'tool_result')
    .map((block) => ({
      name: names.get(asString(block['tool_use_id']) ?? '') ?? '',
      text: contentText(block['content']),
    }));
}

function readReasoning(body: JsonObject, traits: SimTraits): number {
  if (traits.reasoning === 'none' || !thinks(body)) return 0;
  const budget = asNumber(asObject(body['thinking'])['budget_tokens']);
  if (budget !== undefined) return budgetTokens(budget);
  return EFFORT_TOKENS[asString(asObject(body['output_config'])['effort']) ?? 'high'] ?? 0;
}

/**
 * Input tokens, and how many of them the prompt cache would read and write. The service is stateless: a breakpoint
 * before the last assistant message counts as read, because an earlier request set it, and a later one as written.
 * There is no minimum length.
 */
function readCache(
  body: JsonObject,
  tools: readonly JsonObject[],
  messages: readonly JsonObject[],
): { inputTokens: number; cache: CacheCounts } {
  const lastAssistant = messages.findLastIndex((message) => message['role'] === 'assistant');
  let tokens = 0;
  let marked = 0;
  let read = 0;
  const written = { '5m': 0, '1h': 0 };
  const mark = (control: JsonValue | undefined, seenBefore: boolean): void => {
    if (!isJsonObject(control)) return;
    if (seenBefore) read = tokens;
    else written[control['ttl'] === '1h' ? '1h' : '5m'] += tokens - marked;
    marked = tokens;
  };
  const take = (node: JsonValue, seenBefore: boolean): void => {
    tokens += countTokens(node);
    mark(asObject(node)['cache_control'], seenBefore);
  };
  for (const tool of tools) take(tool, lastAssistant >= 0);
  if (typeof body['system'] === 'string') take(body['system'], false);
  for (const block of asArray(body['system'])) take(block, lastAssistant >= 0);
  messages.forEach((message, i) => {
    tokens += 2;
    const { content } = message;
    if (typeof content === 'string') take(content, false);
    for (const block of asArray(content)) take(block, i < lastAssistant);
  });
  mark(body['cache_control'], false);
  return { inputTokens: tokens, cache: { read, write5m: written['5m'], write1h: written['1h'] } };
}

/** Content blocks of an answer, in order. */
function encodeBlocks({ answer, question, body }: Answering): JsonObject[] {
  const blocks: JsonObject[] = [];
  if (answer.reasoning) {
    const { text, redacted } = answer.reasoning;
    const omitted = asObject(body['thinking'])['display'] === 'omitted';
    if (redacted) blocks.push({ type: 'redacted_thinking', data: sealText(question.model, text) });
    else if (omitted)
      blocks.push({ type: 'thinking', thinking: '', signature: signThinking(question.model, '', text) });
    else blocks.push({ type: 'thinking', thinking: text, signature: signThinking(question.model, text) });
  }
  if (answer.search) {
    const id = `srvtoolu_${question.seed.slice(0, 24)}`;
    const input = { query: answer.search.query };
    blocks.push({ type: 'server_tool_use', id, name: 'web_search', input, caller: DIRECT });
    const results = answer.search.results.map(({ url, title }) => ({
      type: 'web_search_result',
      title,
      url,
      encrypted_content: sealText(question.model, url),
      page_age: null,
    }));
    blocks.push({ type: 'web_search_tool_result', tool_use_id: id, content: results, caller: DIRECT });
  }
  for (const { text, citation } of answer.segments) {
    if (!citation) {
      blocks.push({ type: 'text', text });
      continue;
    }
    const { url, title, quote } = citation;
    const cited = {
      type: 'web_search_result_location',
      cited_text: quote,
      url,
      title,
      encrypted_index: sealText(question.model, title),
    };
    blocks.push({ type: 'text', text, citations: [cited] });
  }
  answer.calls.forEach((call, i) => {
    const id = `toolu_${question.seed.slice(0, 22)}${String(i).padStart(2, '0')}`;
    const input = asObject(parseJson(call.arguments));
    blocks.push({ type: 'tool_use', id, name: call.name, input, caller: DIRECT });
  });
  return blocks;
}

function encode(answering: Answering): JsonObject {
  const { answer, question } = answering;
  return {
    id: `msg_${question.seed.slice(0, 24)}`,
    type: 'message',
    role: 'assistant',
    model: question.model,
    content: encodeBlocks(answering),
    stop_reason: stopReason(answer),
    stop_sequence: answer.stopSequence,
    stop_details: stopDetails(answer),
    container: null,
    diagnostics: null,
    usage: usage(answering),
  };
}

function stopReason(answer: SimAnswer): string {
  switch (answer.finish) {
    case 'length':
      return 'max_tokens';
    case 'tool_calls':
      return 'tool_use';
    case 'content_filter':
    case 'refusal':
      return 'refusal';
    case 'stop_sequence':
      return 'stop_sequence';
    case 'stop':
      return 'end_turn';
  }
}

/** `input_tokens` excludes cached tokens. `output_tokens` includes thinking. */
function usage({ question, answer }: Answering): JsonObject {
  const { read, write5m, write1h } = question.cache;
  return {
    input_tokens: question.inputTokens - read - write5m - write1h,
    cache_creation_input_tokens: write5m + write1h,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: write5m, ephemeral_1h_input_tokens: write1h },
    output_tokens: answer.textTokens + answer.reasoningTokens,
    output_tokens_details: answer.reasoning ? { thinking_tokens: answer.reasoningTokens } : null,
    server_tool_use: answer.search ? { web_search_requests: 1, web_fetch_requests: 0 } : null,
    service_tier: 'standard',
    inference_geo: null,
    speed: null,
  };
}

function encodeError(error: SimError, requestId: string): JsonObject {
  return {
    type: 'error',
    error: { type: error.type ?? anthropicErrorType(error.status), message: error.message },
    request_id: requestId,
  };
}
