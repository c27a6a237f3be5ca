// Chat Completions in the simulated service, in OpenAI's form or in DeepSeek's with visible reasoning. Parses
// validated requests and encodes answers, errors and stream frames.
import type { JsonObject, JsonValue, MutableJsonObject } from '../src/base/json/index.ts';
import { asArray, asNumber, asObject, asString } from '../src/base/json/index.ts';
import { checkChat } from './chat-check.ts';
import {
  automaticCache,
  contentText,
  countParts,
  EFFORT_TOKENS,
  prefillOf,
  stopList,
} from './conversation.ts';
import type { Answering, Dialect, Frame } from './dialect.ts';
import { openaiFailure } from './failures.ts';
import type { SimTraits } from './models.ts';
import { encodeOpenaiError } from './openai-error.ts';
import { answerText } from './question.ts';
import type { Question, SimAnswer, SimCall, SimChoice, SimTool } from './question.ts';
import { dataFrame } from './sse.ts';
import { countTokens, textPieces } from './tokens.ts';
import { instructedFormat } from './instructed-format.ts';

export const chatDialect: Dialect = {
  protocol: 'openai-chat',
  requestIdHeader: 'x-request-id',
  check: (body, traits, _headers, problems) => checkChat(body, traits, problems),
  read,
  encode,
  encodeFrames,
  encodeError: (error) => encodeOpenaiError(error),
  words: openaiFailure,
  encodeErrorFrame: () =>
    dataFrame({
      error: {
        message: 'The server had an error while processing your request.',
        type: 'server_error',
        param: null,
        code: null,
      },
    }),
  unknownFrame: dataFrame({ object: 'chat.completion.telemetry', load: 0.5 }),
  malformedFrame: 'data: {"id":"chatcmpl-\n\n',
};

function read(body: JsonObject, traits: SimTraits, seed: string): Question {
  const all = asArray(body['messages']).map(asObject);
  const prefill = prefillOf(all.at(-1));
  const messages = prefill === '' ? all : all.slice(0, -1);
  const users = messages.filter((message) => message['role'] === 'user');
  const lastUser = users.at(-1)?.['content'];
  const sinceUser = messages.slice(messages.findLastIndex((message) => message['role'] === 'user') + 1);
  const lastAssistant = messages.findLastIndex((message) => message['role'] === 'assistant');
  const format = asObject(body['response_format']);
  const inputTokens = countTokens(all) + countTokens(body['tools']);
  const earlier =
    lastAssistant < 0 ? 0 : countTokens(messages.slice(0, lastAssistant)) + countTokens(body['tools']);
  return {
    model: asString(body['model']) ?? '',
    seed,
    userText: contentText(lastUser),
    turn: users.length,
    images: countParts(lastUser, ['image_url']),
    files: countParts(lastUser, ['file', 'input_audio']),
    prefill,
    toolResults: readResults(messages),
    step: sinceUser.filter((message) => message['role'] === 'tool').length,
    ...readTools(body),
    parallel: body['parallel_tool_calls'] !== false,
    format:
      format['type'] === 'json_schema'
        ? { schema: asObject(asObject(format['json_schema'])['schema']) }
        : (instructedFormat(messages) ?? (format['type'] === 'json_object' ? { schema: null } : null)),
    reasoningTokens: readReasoning(body, traits),
    webSearch: body['web_search_options'] != null,
    stop: stopList(body['stop']),
    maxTokens: asNumber(body['max_completion_tokens'] ?? body['max_tokens']) ?? null,
    inputTokens,
    cache: { read: Math.min(automaticCache(earlier), inputTokens), write5m: 0, write1h: 0 },
  };
}

/** Tool messages at the end, with the names of their calls. */
function readResults(messages: readonly JsonObject[]): { name: string; text: string }[] {
  const names = new Map<string, string>();
  for (const message of messages) {
    for (const value of asArray(message['tool_calls'])) {
      const call = asObject(value);
      const inner = asObject(call['function'] ?? call['custom']);
      names.set(asString(call['id']) ?? '', asString(inner['name']) ?? '');
    }
  }
  const results: { name: string; text: string }[] = [];
  for (let i = messages.length - 1; messages[i]?.['role'] === 'tool'; i--) {
    const message = messages[i] ?? {};
    results.push({
      name: names.get(asString(message['tool_call_id']) ?? '') ?? '',
      text: contentText(message['content']),
    });
  }
  return results.reverse();
}

function readTools(body: JsonObject): { tools: SimTool[]; choice: SimChoice } {
  let tools = asArray(body['tools']).map((value): SimTool => {
    const tool = asObject(value);
    const kind = tool['type'] === 'custom' ? 'custom' : 'function';
    const inner = asObject(tool[kind]);
    return { kind, name: asString(inner['name']) ?? '', schema: asObject(inner['parameters']) };
  });
  const raw = body['tool_choice'];
  if (raw === 'none' || raw === 'required') return { tools, choice: { type: raw } };
  const choice = asObject(raw);
  if (choice['type'] === 'allowed_tools') {
    const allowed = asObject(choice['allowed_tools']);
    const names = asArray(allowed['tools']).map((tool) =>
      asString(asObject(asObject(tool)['function'] ?? asObject(tool)['custom'])['name']),
    );
    tools = tools.filter((tool) => names.includes(tool.name));
    return { tools, choice: { type: allowed['mode'] === 'required' ? 'required' : 'auto' } };
  }
  const name = asString(asObject(choice['function'] ?? choice['custom'])['name']);
  return { tools, choice: name === undefined ? { type: 'auto' } : { type: 'tool', name } };
}

function readReasoning(body: JsonObject, traits: SimTraits): number {
  if (traits.reasoning === 'none' || asObject(body['thinking'])['type'] === 'disabled') return 0;
  const effort = asString(body['reasoning_effort']);
  if (effort === undefined && traits.reasoning === 'on-request') return 0;
  return EFFORT_TOKENS[effort ?? 'medium'] ?? 0;
}

/** OpenAI's `chat.completion` has no reasoning text, and never `tool_calls: null`. */
function encode(answering: Answering): JsonObject {
  const { answer, traits, question } = answering;
  const text = answerText(answer);
  const message: MutableJsonObject = {
    role: 'assistant',
    content: answer.refusal || (text === '' && answer.calls.length > 0) ? null : text,
  };
  if (traits.deepseek) {
    if (answer.reasoning) message['reasoning_content'] = answer.reasoning.text;
  } else {
    message['refusal'] = answer.refusal ? text : null;
    message['annotations'] = annotations(answer);
  }
  if (answer.calls.length > 0)
    message['tool_calls'] = answer.calls.map((call, i) => encodeCall(call, callId(question, traits, i)));
  const logprobs = wantsLogprobs(answering)
    ? { content: textPieces(text).map((piece) => logprob(piece, answering)), refusal: null }
    : null;
  return {
    ...envelope(answering, 'chat.completion'),
    choices: [{ index: 0, message, logprobs, finish_reason: finishReason(answer) }],
    usage: usage(answering),
  };
}

function encodeFrames(answering: Answering): Frame[] {
  const { answer, traits, question, body } = answering;
  const head = envelope(answering, 'chat.completion.chunk');
  const asked = asObject(body['stream_options'])['include_usage'] === true;
  const frames: Frame[] = [];
  const push = (
    phase: Frame['phase'],
    delta: JsonObject,
    chars = 0,
    finish: string | null = null,
    logprobs: JsonValue = null,
  ): void => {
    const last =
      finish !== null && traits.deepseek ? { usage: usage(answering) } : asked ? { usage: null } : {};
    frames.push({
      phase,
      chars,
      text: dataFrame({ ...head, choices: [{ index: 0, delta, logprobs, finish_reason: finish }], ...last }),
    });
  };
  const text = answerText(answer);
  const silent = text === '' && answer.calls.length > 0;
  push('head', {
    role: 'assistant',
    content: silent || answer.refusal ? null : '',
    ...(traits.deepseek ? {} : { refusal: null }),
  });
  if (traits.deepseek && answer.reasoning) {
    for (const piece of textPieces(answer.reasoning.text))
      push('content', { content: null, reasoning_content: piece });
  }
  for (const piece of textPieces(text, answering.cutAt)) {
    const logprobs = wantsLogprobs(answering)
      ? { content: [logprob(piece, answering)], refusal: null }
      : null;
    push(
      'content',
      answer.refusal && !traits.deepseek ? { refusal: piece } : { content: piece },
      piece.length,
      null,
      logprobs,
    );
  }
  const cited = annotations(answer);
  if (cited.length > 0) push('content', { annotations: cited });
  answer.calls.forEach((call, index) => {
    const key = call.kind === 'custom' ? 'input' : 'arguments';
    push('content', {
      tool_calls: [
        {
          index,
          id: callId(question, traits, index),
          type: call.kind,
          [call.kind]: { name: call.name, [key]: '' },
        },
      ],
    });
    for (const piece of textPieces(call.arguments))
      push('content', { tool_calls: [{ index, [call.kind]: { [key]: piece } }] }, piece.length);
  });
  push('end', {}, 0, finishReason(answer));
  if (asked && !traits.deepseek)
    frames.push({
      phase: 'end',
      chars: 0,
      text: dataFrame({ ...head, choices: [], usage: usage(answering) }),
    });
  frames.push({ phase: 'done', chars: 0, text: 'data: [DONE]\n\n' });
  return frames;
}

function envelope({ question, createdSeconds, traits, body }: Answering, object: string): JsonObject {
  return {
    id: traits.deepseek ? question.seed.slice(0, 32) : `chatcmpl-${question.seed.slice(0, 29)}`,
    object,
    created: createdSeconds,
    model: question.model,
    ...(traits.deepseek
      ? {}
      : { service_tier: asString(body['service_tier']) === 'flex' ? 'flex' : 'default' }),
    system_fingerprint: 'fp_sim',
  };
}

function callId(question: Question, traits: SimTraits, index: number): string {
  return traits.deepseek
    ? `call_${String(index).padStart(2, '0')}_${question.seed.slice(0, 24)}`
    : `call_${question.seed.slice(0, 22)}${String(index).padStart(2, '0')}`;
}

function encodeCall(call: SimCall, id: string): JsonObject {
  return call.kind === 'custom'
    ? { id, type: 'custom', custom: { name: call.name, input: call.arguments } }
    : { id, type: 'function', function: { name: call.name, arguments: call.arguments } };
}

function annotations(answer: SimAnswer): JsonObject[] {
  const list: JsonObject[] = [];
  let at = 0;
  for (const { text, citation } of answer.segments) {
    if (citation) {
      const { url, title } = citation;
      list.push({
        type: 'url_citation',
        url_citation: { start_index: at, end_index: at + text.length, title, url },
      });
    }
    at += text.length;
  }
  return list;
}

function finishReason(answer: SimAnswer): string {
  return answer.finish === 'stop_sequence' || answer.finish === 'refusal' ? 'stop' : answer.finish;
}

function usage({ question, answer, traits }: Answering): JsonObject {
  const completion = answer.textTokens + answer.reasoningTokens;
  const totals = {
    prompt_tokens: question.inputTokens,
    completion_tokens: completion,
    total_tokens: question.inputTokens + completion,
  };
  const cached = question.cache.read;
  if (traits.deepseek) {
    return {
      ...totals,
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: answer.reasoningTokens },
      prompt_cache_hit_tokens: cached,
      prompt_cache_miss_tokens: question.inputTokens - cached,
    };
  }
  return {
    ...totals,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: answer.reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function wantsLogprobs({ body }: Answering): boolean {
  return body['logprobs'] === true;
}

/** The chosen token is almost certain. Alternatives have decreasing probabilities. */
function logprob(token: string, { body }: Answering): JsonObject {
  const entry = (text: string, odds: number): JsonObject => ({
    token: text,
    logprob: odds,
    bytes: [...new TextEncoder().encode(text)],
  });
  const count = asNumber(body['top_logprobs']) ?? 0;
  const top = Array.from({ length: count }, (_, i) => entry(i === 0 ? token : `${token}${i}`, -0.01 - i));
  return { ...entry(token, -0.01), top_logprobs: top };
}
