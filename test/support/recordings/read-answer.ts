// Reads what a client of the gateway received, as strictly as the strictest client would: OpenAI's schema and
// the rules of its streams. Uses none of the product's code.
import { framesOf, at, count, list, word } from './loose.ts';
import type { Loose } from './loose.ts';
import { fits } from './openai-schema.ts';
import { emptySaid, saidCall } from './said.ts';
import type { Said, SaidCall } from './said.ts';

export interface Received {
  readonly said: Said;
  /** Mistakes that a strict client would not accept. */
  readonly problems: readonly string[];
}

const ENDS = ['stop', 'length', 'tool_calls', 'content_filter'] as const;

/** Reads the body of an answer that is no stream. @param status HTTP status */
export function readWhole(status: number, body: string): Received {
  const json = JSON.parse(body) as Loose;
  if (status !== 200) return { said: emptySaid(), problems: errorProblems(json) };
  const problems = fits('CreateChatCompletionResponse', json);
  const choices = list(json['choices']);
  const message = at(choices[0], 'message');
  if (choices.length !== 1) problems.push(`${choices.length} choices`);
  if (Array.isArray(message?.['tool_calls']) && list(message['tool_calls']).length === 0)
    problems.push('an empty list of tool calls');
  const said = emptySaid();
  readCommon(message, said, problems);
  for (const call of list(message?.['tool_calls'])) {
    const kind = kindOf(call);
    const body = at(call, kind);
    said.calls.push(
      saidCall(kind, word(at(body, 'name')), word(at(body, kind === 'custom' ? 'input' : 'arguments'))),
    );
    if (word(call['id']) === '') problems.push('a call without an id');
  }
  said.end = readEnd(at(choices[0], 'finish_reason'), problems);
  readTokens(json['usage'], said, problems);
  checkIds(
    list(message?.['tool_calls']).map((call) => word(call['id'])),
    problems,
  );
  return { said, problems };
}

interface OpenCall {
  readonly kind: SaidCall['kind'];
  readonly id: string;
  readonly name: string;
  text: string;
}

/** Reads a whole event stream that asked for token counts. */
export function readStream(body: string): Received {
  const said = emptySaid();
  const problems: string[] = [];
  const frames = framesOf(body).map((frame) => frame.data);
  const calls: OpenCall[] = [];
  let envelope = '';
  let finished = false;
  let counted = false;
  if (!body.endsWith('\n\n')) problems.push('the last frame is not complete');
  for (const [position, data] of frames.entries()) {
    if (data === '[DONE]') {
      if (position !== frames.length - 1) problems.push('frames after [DONE]');
      continue;
    }
    const chunk = JSON.parse(data) as Loose;
    if (chunk['error']) {
      problems.push(...errorProblems(chunk));
      if (position !== frames.length - 1) problems.push('frames after the error');
      return { said: emptySaid(), problems };
    }
    problems.push(...fits('CreateChatCompletionStreamResponse', withoutCustomCalls(chunk)));
    const facts = JSON.stringify([chunk['id'], chunk['created'], chunk['model']]);
    if (envelope !== '' && facts !== envelope)
      problems.push(`another id, time or model: ${envelope}, ${facts}`);
    envelope = facts;
    const choices = list(chunk['choices']);
    if (choices.length === 0) {
      if (!at(chunk, 'usage')) problems.push('a chunk without choices that is not the token count');
      if (!finished || counted) problems.push('token counts before the end, or twice');
      readTokens(chunk['usage'], said, problems);
      counted = true;
      continue;
    }
    if (choices.length > 1) problems.push(`${choices.length} choices`);
    if (at(chunk, 'usage')) problems.push('token counts in a chunk of content');
    if (finished) problems.push('a choice after the finish reason');
    const delta = at(choices[0], 'delta');
    if ((position === 0) !== (word(delta?.['role']) === 'assistant'))
      problems.push('the role is not in the first chunk alone');
    readCommon(delta, said, problems);
    for (const call of list(delta?.['tool_calls'])) readCall(call, calls, problems);
    if (at(choices[0], 'finish_reason')) {
      finished = true;
      said.end = readEnd(at(choices[0], 'finish_reason'), problems);
    }
  }
  if (frames.at(-1) !== '[DONE]') problems.push('no [DONE] at the end');
  if (!finished) problems.push('no finish reason');
  for (const call of calls) said.calls.push(saidCall(call.kind, call.name, call.text));
  checkIds(
    calls.map((call) => call.id),
    problems,
  );
  return { said, problems };
}

/** Mistakes of a body that should be OpenAI's error object. */
export function errorProblems(json: Loose): string[] {
  const problems = fits('ErrorResponse', json);
  if (word(at(json, 'error', 'message')).length < 10) problems.push('an error without a message');
  return problems;
}

/** Members that a message and a delta share. */
function readCommon(message: Loose | undefined, said: Said, problems: string[]): void {
  said.text += word(message?.['content']);
  for (const owner of [message, ...list(at(message, 'tool_calls'))])
    if (at(owner, 'extra_content')) said.extras.push(JSON.stringify(at(owner, 'extra_content')));
  said.refusal += word(message?.['refusal']);
  said.reasoning += word(message?.['reasoning']);
  // A client that knows one name only must get all of it.
  if (word(message?.['reasoning']) !== word(message?.['reasoning_content']))
    problems.push('reasoning and reasoning_content differ');
  let shown = '';
  for (const detail of list(message?.['reasoning_details'])) {
    shown += word(detail['text']) + word(detail['summary']);
    const state = word(detail['signature']) + word(detail['data']);
    if (state !== '') said.opaque.push(state);
    if (word(detail['format']) === '' || typeof detail['index'] !== 'number')
      problems.push('a reasoning detail without format or index');
  }
  if (shown.replaceAll('\n', '') !== word(message?.['reasoning']).replaceAll('\n', ''))
    problems.push('reasoning and its details differ');
  for (const annotation of list(message?.['annotations']))
    said.citations.push(word(at(annotation, 'url_citation', 'url')));
}

function readCall(call: Loose, calls: OpenCall[], problems: string[]): void {
  const index = Number(call['index']);
  const known = calls[index];
  const kind = known?.kind ?? kindOf(call);
  const body = at(call, kind);
  const text = word(at(body, kind === 'custom' ? 'input' : 'arguments'));
  if (known) {
    known.text += text;
    if (call['id'] !== undefined || at(body, 'name') !== undefined)
      problems.push('a call is introduced twice');
    return;
  }
  if (index !== calls.length) problems.push(`call ${index} comes after ${calls.length} calls`);
  if (word(call['id']) === '' || word(call['type']) === '' || word(at(body, 'name')) === '')
    problems.push('a call begins without id, type or name');
  calls[index] = { kind, id: word(call['id']), name: word(at(body, 'name')), text };
}

function kindOf(call: Loose): SaidCall['kind'] {
  return word(call['type']) === 'custom' ? 'custom' : 'function';
}

/** The description knows custom calls in whole answers only; OpenAI streams them in the same way. */
function withoutCustomCalls(chunk: Loose): Loose {
  const calls = list(at(list(chunk['choices'])[0], 'delta', 'tool_calls'));
  if (!calls.some((call) => call['custom'])) return chunk;
  const text = JSON.stringify(chunk).replaceAll('"type":"custom"', '"type":"function"');
  return JSON.parse(text) as Loose;
}

function readEnd(value: Loose | undefined, problems: string[]): Said['end'] {
  const known = ENDS.find((end) => end === word(value));
  if (!known) problems.push(`finish reason ${JSON.stringify(value)}`);
  return known ?? 'error';
}

function readTokens(usage: Loose | undefined, said: Said, problems: string[]): void {
  if (!usage) {
    problems.push('no token counts');
    return;
  }
  const prompt = count(usage['prompt_tokens']);
  const completion = count(usage['completion_tokens']);
  said.tokens = {
    prompt,
    cached: count(at(usage, 'prompt_tokens_details', 'cached_tokens')),
    written: count(at(usage, 'prompt_tokens_details', 'cache_write_tokens')),
    completion,
    reasoning: count(at(usage, 'completion_tokens_details', 'reasoning_tokens')),
  };
  if (usage['total_tokens'] !== undefined && count(usage['total_tokens']) !== prompt + completion)
    problems.push('the total is not the sum of prompt and completion');
}

function checkIds(ids: readonly string[], problems: string[]): void {
  if (new Set(ids).size !== ids.length) problems.push('two calls have one id');
}
