// Responses in the simulated service: parses validated requests and encodes answers. `responses-frames.ts` streams
// the same output items.
import type { JsonObject, JsonValue } from '../src/base/json/index.ts';
import { asArray, asNumber, asObject, asString } from '../src/base/json/index.ts';
import { automaticCache, contentText, countParts, EFFORT_TOKENS } from './conversation.ts';
import type { Answering, Dialect } from './dialect.ts';
import { openaiFailure } from './failures.ts';
import type { SimTraits } from './models.ts';
import { encodeOpenaiError } from './openai-error.ts';
import { answerText } from './question.ts';
import type { Question, SimAnswer, SimChoice, SimTool } from './question.ts';
import { checkResponses } from './responses-check.ts';
import { encodeResponsesFrames } from './responses-frames.ts';
import type { ResponseStatus } from './responses-frames.ts';
import { sealText } from './seal.ts';
import { eventFrame } from './sse.ts';
import { countTokens } from './tokens.ts';

const FAILURE = { code: 'server_error', message: 'The server had an error while processing your request.' };

export const responsesDialect: Dialect = {
  protocol: 'openai-responses',
  requestIdHeader: 'x-request-id',
  check: (body, traits, _headers, problems) => checkResponses(body, traits, problems),
  read,
  encode: (answering) => envelope(answering, finalStatus(answering.answer), encodeItems(answering)),
  encodeFrames: (answering) =>
    encodeResponsesFrames(
      answering,
      encodeItems(answering),
      (status, items) => envelope(answering, status, items),
      finalStatus(answering.answer),
    ),
  encodeError: (error) => encodeOpenaiError(error),
  words: openaiFailure,
  // The service reports errors in two ways: an `error` event before its first output, and a failed response
  // afterwards.
  encodeErrorFrame: (answering, early, sequence) =>
    early
      ? eventFrame('error', { type: 'error', sequence_number: sequence, ...FAILURE, param: null })
      : eventFrame('response.failed', {
          type: 'response.failed',
          sequence_number: sequence,
          response: { ...envelope(answering, 'failed', []), error: FAILURE },
        }),
  unknownFrame: eventFrame('response.telemetry', {
    type: 'response.telemetry',
    sequence_number: 3,
    load: 0.5,
  }),
  malformedFrame:
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":\n\n',
};

function read(body: JsonObject, traits: SimTraits, seed: string): Question {
  const items: readonly JsonObject[] =
    typeof body['input'] === 'string'
      ? [{ role: 'user', content: body['input'] }]
      : asArray(body['input']).map(asObject);
  const users = items.filter((item) => item['role'] === 'user');
  const lastUser = users.at(-1)?.['content'];
  const sinceUser = items.slice(items.findLastIndex((item) => item['role'] === 'user') + 1);
  const format = asObject(asObject(body['text'])['format']);
  const fixed = countTokens(body['instructions']) + countTokens(body['tools']);
  const inputTokens = countTokens(items) + fixed;
  const lastAnswer = items.findLastIndex(
    (item) =>
      item['role'] === 'assistant' || item['type'] === 'function_call' || item['type'] === 'custom_tool_call',
  );
  const earlier = lastAnswer < 0 ? 0 : countTokens(items.slice(0, lastAnswer)) + fixed;
  return {
    model: asString(body['model']) ?? '',
    seed,
    userText: contentText(lastUser),
    turn: users.length,
    images: countParts(lastUser, ['input_image']),
    files: countParts(lastUser, ['input_file', 'input_audio']),
    // Responses starts a new item after an assistant message.
    prefill: '',
    toolResults: readResults(items),
    step: sinceUser.filter(isResult).length,
    ...readTools(body),
    parallel: body['parallel_tool_calls'] !== false,
    format:
      format['type'] === 'json_schema'
        ? { schema: asObject(format['schema']) }
        : format['type'] === 'json_object'
          ? { schema: null }
          : null,
    reasoningTokens: readReasoning(body, traits),
    webSearch: asArray(body['tools']).some((tool) =>
      (asString(asObject(tool)['type']) ?? '').startsWith('web_search'),
    ),
    stop: [],
    maxTokens: asNumber(body['max_output_tokens']) ?? null,
    inputTokens,
    cache: { read: Math.min(automaticCache(earlier), inputTokens), write5m: 0, write1h: 0 },
  };
}

/** Tool outputs at the end of the input, with the names of their calls. */
function readResults(items: readonly JsonObject[]): { name: string; text: string }[] {
  const names = new Map(
    items
      .map((item) => [asString(item['call_id']) ?? '', asString(item['name']) ?? ''])
      .filter(([, name]) => name !== '') as [string, string][],
  );
  const results: { name: string; text: string }[] = [];
  for (let i = items.length - 1; i >= 0; i--) {
    const item = items[i] ?? {};
    if (!isResult(item)) break;
    results.push({
      name: names.get(asString(item['call_id']) ?? '') ?? '',
      text: contentText(item['output']),
    });
  }
  return results.reverse();
}

function isResult(item: JsonObject): boolean {
  return item['type'] === 'function_call_output' || item['type'] === 'custom_tool_call_output';
}

function readTools(body: JsonObject): { tools: SimTool[]; choice: SimChoice } {
  const own = asArray(body['tools'])
    .map(asObject)
    .filter((tool) => tool['type'] === 'function' || tool['type'] === 'custom');
  const tools = own.map((tool): SimTool => ({
    kind: tool['type'] === 'custom' ? 'custom' : 'function',
    name: asString(tool['name']) ?? '',
    schema: asObject(tool['parameters']),
  }));
  const raw: JsonValue | undefined = body['tool_choice'];
  if (raw === 'none' || raw === 'required') return { tools, choice: { type: raw } };
  const choice = asObject(raw);
  if (choice['type'] === 'allowed_tools') {
    const names = asArray(choice['tools']).map((tool) => asString(asObject(tool)['name']));
    return {
      tools: tools.filter((tool) => names.includes(tool.name)),
      choice: { type: choice['mode'] === 'required' ? 'required' : 'auto' },
    };
  }
  const name = asString(choice['name']);
  return { tools, choice: name === undefined ? { type: 'auto' } : { type: 'tool', name } };
}

function readReasoning(body: JsonObject, traits: SimTraits): number {
  if (traits.reasoning === 'none') return 0;
  const effort = asString(asObject(body['reasoning'])['effort']);
  if (effort === undefined && traits.reasoning === 'on-request') return 0;
  return EFFORT_TOKENS[effort ?? 'medium'] ?? 0;
}

/** Complete output items of an answer. */
function encodeItems({ answer, question, body }: Answering): JsonObject[] {
  const items: JsonObject[] = [];
  const seed = `sim${question.seed.slice(0, 32)}`;
  const status = finalStatus(answer) === 'incomplete' ? 'incomplete' : 'completed';
  if (answer.reasoning) {
    const asked = asObject(body['reasoning']);
    const summary = asked['summary'] ?? asked['generate_summary'];
    const sealed = asArray(body['include']).includes('reasoning.encrypted_content');
    items.push({
      id: `rs_${seed}`,
      type: 'reasoning',
      summary: summary == null ? [] : [{ type: 'summary_text', text: answer.reasoning.text }],
      ...(sealed ? { encrypted_content: sealText(question.model, answer.reasoning.text) } : {}),
    });
  }
  if (answer.search) {
    items.push({
      id: `ws_${seed}`,
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'search', query: answer.search.query },
    });
  }
  const text = answerText(answer);
  if (text !== '' || answer.calls.length === 0) {
    const part: JsonObject = answer.refusal
      ? { type: 'refusal', refusal: text }
      : { type: 'output_text', annotations: annotations(answer), logprobs: [], text };
    items.push({ id: `msg_${seed}`, type: 'message', status, content: [part], role: 'assistant' });
  }
  answer.calls.forEach((call, i) => {
    const tail = `${seed}${String(i).padStart(2, '0')}${answer.reasoning ? '1' : '0'}`;
    const call_id = `call_${question.seed.slice(0, 22)}${String(i).padStart(2, '0')}`;
    if (call.kind === 'custom')
      items.push({
        id: `ctc_${tail}`,
        type: 'custom_tool_call',
        status,
        call_id,
        input: call.arguments,
        name: call.name,
      });
    else
      items.push({
        id: `fc_${tail}`,
        type: 'function_call',
        status,
        arguments: call.arguments,
        call_id,
        name: call.name,
      });
  });
  return items;
}

function annotations(answer: SimAnswer): JsonObject[] {
  const list: JsonObject[] = [];
  let at = 0;
  for (const { text, citation } of answer.segments) {
    if (citation)
      list.push({
        type: 'url_citation',
        end_index: at + text.length,
        start_index: at,
        title: citation.title,
        url: citation.url,
      });
    at += text.length;
  }
  return list;
}

function finalStatus(answer: SimAnswer): ResponseStatus {
  return answer.finish === 'length' || answer.finish === 'content_filter' ? 'incomplete' : 'completed';
}

/** The response object: the request's settings and the output. */
function envelope(answering: Answering, status: ResponseStatus, output: readonly JsonObject[]): JsonObject {
  const { body, question, answer, createdSeconds, traits } = answering;
  const running = status === 'in_progress';
  const reasoning = asObject(body['reasoning']);
  const text = asObject(body['text']);
  return {
    id: `resp_sim${question.seed.slice(0, 32)}`,
    object: 'response',
    created_at: createdSeconds,
    status,
    background: false,
    completed_at: status === 'completed' ? createdSeconds : null,
    error: null,
    frequency_penalty: 0,
    incomplete_details:
      status === 'incomplete'
        ? { reason: answer.finish === 'length' ? 'max_output_tokens' : 'content_filter' }
        : null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
    model: question.model,
    output,
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    reasoning: {
      effort:
        reasoning['effort'] ??
        (traits.reasoning === 'none' || traits.reasoning === 'on-request' ? null : 'medium'),
      summary: reasoning['summary'] === 'auto' ? 'detailed' : (reasoning['summary'] ?? null),
    },
    safety_identifier: body['safety_identifier'] ?? null,
    service_tier: running ? 'auto' : 'default',
    store: body['store'] ?? true,
    temperature: body['temperature'] ?? 1,
    text: { format: text['format'] ?? { type: 'text' }, verbosity: text['verbosity'] ?? 'medium' },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_logprobs: body['top_logprobs'] ?? 0,
    top_p: body['top_p'] ?? 1,
    truncation: body['truncation'] ?? 'disabled',
    usage: running || status === 'failed' ? null : usage(answering),
    user: body['user'] ?? null,
    metadata: body['metadata'] ?? {},
  };
}

function usage({ question, answer }: Answering): JsonObject {
  const output = answer.textTokens + answer.reasoningTokens;
  return {
    input_tokens: question.inputTokens,
    input_tokens_details: { cached_tokens: question.cache.read, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: answer.reasoningTokens },
    total_tokens: question.inputTokens + output,
  };
}
