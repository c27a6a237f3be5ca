// Reads Chat Completions as recorded from any server: what its bytes say, by the plainest means and without the
// product's own code.
import type { Recording } from './corpus.ts';
import { at, count, framesOf, list, word } from './loose.ts';
import type { Loose } from './loose.ts';
import { endOf, emptySaid, saidCall } from './said.ts';
import type { Said, SaidCall, SaidTokens } from './said.ts';

/** Words with which servers say that they were interrupted or ran out of room; all others are normal ends. */
const LENGTH = ['length', 'max_tokens', 'model_length', 'max_output_tokens'];
const FAILED = ['error', 'insufficient_system_resource', 'network_error'];

interface OpenCall {
  readonly kind: SaidCall['kind'];
  name: string;
  text: string;
}

/** Reads a recorded answer of a Chat Completions server. */
export function readChat({ res }: Recording): Said {
  if (res.kind === 'json') return readChunks(res.json ? [res.json] : [], true);
  const frames = framesOf(res.text ?? '').map((frame) => frame.data);
  const chunks = frames.filter((data) => data !== '[DONE]').map((data) => JSON.parse(data) as Loose);
  return readChunks(chunks, frames.includes('[DONE]'));
}

function readChunks(chunks: readonly Loose[], complete: boolean): Said {
  const said = emptySaid();
  const calls = new Map<string, OpenCall>();
  const pages = new Set<string>();
  let usage: Loose | undefined;
  let reason = complete ? 'stop' : '';
  for (const chunk of chunks) {
    if (at(chunk, 'error')) return emptySaid();
    usage = at(chunk, 'usage') ?? at(chunk, 'x_groq', 'usage') ?? usage;
    for (const page of list(at(chunk, 'search_results'))) pages.add(word(at(page, 'url')));
    if (!at(chunk, 'search_results'))
      for (const page of list(at(chunk, 'citations'))) pages.add(word(page) || word(at(page, 'url')));
    const choice = list(at(chunk, 'choices')).find((one) => count(at(one, 'index')) === 0);
    if (!choice) continue;
    reason = word(at(choice, 'finish_reason')) || word(at(choice, 'finish_details', 'type')) || reason;
    // Writer's chunks hold the delta twice, Perplexity's completions an empty delta beside the message.
    const isChunk = word(at(chunk, 'object')).endsWith('.chunk');
    const message = (isChunk ? undefined : at(choice, 'message')) ?? at(choice, 'delta');
    readMessage(message, isChunk || !at(choice, 'message'), said, calls);
  }
  if (reason === '' || FAILED.includes(reason)) return emptySaid();
  for (const call of calls.values()) said.calls.push(saidCall(call.kind, call.name, call.text));
  said.citations.push(...pages);
  const filtered = reason === 'content_filter' || (reason === 'refusal' && said.refusal === '');
  said.end = endOf(
    LENGTH.includes(reason) ? 'length' : filtered ? 'content_filter' : 'stop',
    said.calls.length,
  );
  said.tokens = usage ? readTokens(usage) : null;
  return said;
}

function readMessage(
  message: Loose | undefined,
  streamed: boolean,
  said: Said,
  calls: Map<string, OpenCall>,
): void {
  const content = at(message, 'content');
  said.text += word(content);
  for (const part of list(content)) {
    said.text += word(at(part, 'text'));
    const thinking = at(part, 'thinking');
    said.reasoning += word(thinking);
    for (const piece of list(thinking)) said.reasoning += word(at(piece, 'text'));
  }
  for (const owner of [message, ...list(at(message, 'tool_calls'))])
    if (at(owner, 'extra_content')) said.extras.push(JSON.stringify(at(owner, 'extra_content')));
  said.refusal += word(at(message, 'refusal'));
  const details = list(at(message, 'reasoning_details'));
  const shown = details.map((detail) => word(at(detail, 'text')) + word(at(detail, 'summary'))).join('');
  said.reasoning += shown || word(at(message, 'reasoning_content')) || word(at(message, 'reasoning'));
  for (const detail of details) {
    const state = word(at(detail, 'signature')) + word(at(detail, 'data'));
    if (state !== '') said.opaque.push(state);
  }
  if (at(message, 'thought_signature')) said.opaque.push(word(at(message, 'thought_signature')));
  for (const annotation of list(at(message, 'annotations'))) {
    const url = word(at(annotation, 'url_citation', 'url')) || word(at(annotation, 'url'));
    if (url !== '') said.citations.push(url);
  }
  for (const call of list(at(message, 'tool_calls')))
    readCall(
      streamed ? JSON.stringify(call['index'] ?? at(call, 'id') ?? '') : `#${calls.size}`,
      call,
      calls,
    );
  const legacy = at(message, 'function_call');
  if (legacy) readCall('legacy', { function: legacy }, calls);
}

function readCall(key: string, call: Loose, calls: Map<string, OpenCall>): void {
  const kind = at(call, 'custom') ? 'custom' : 'function';
  const entry = calls.get(key) ?? { kind, name: '', text: '' };
  const body = at(call, kind);
  entry.name += word(at(body, 'name'));
  const text = at(body, 'arguments') ?? at(body, 'input');
  entry.text += typeof text === 'object' ? JSON.stringify(text) : word(text);
  if (entry.name !== '' || entry.text !== '') calls.set(key, entry);
}

/**
 * The total is the judge: what it holds beyond prompt and completion is reasoning that was not counted as
 * completion (xAI, Google).
 */
function readTokens(usage: Loose): SaidTokens {
  const prompt = count(usage['prompt_tokens']);
  const completion = count(usage['completion_tokens']);
  const hidden = Math.max(0, count(usage['total_tokens']) - prompt - completion);
  const cached =
    at(usage, 'prompt_tokens_details', 'cached_tokens') ??
    usage['prompt_cache_hit_tokens'] ??
    usage['num_cached_tokens'] ??
    usage['cached_tokens'];
  const reasoning =
    at(usage, 'completion_tokens_details', 'reasoning_tokens') ?? at(usage, 'reasoning_tokens');
  return {
    prompt,
    cached: Math.min(prompt, count(cached)),
    written: count(at(usage, 'prompt_tokens_details', 'cache_write_tokens')),
    completion: completion + hidden,
    reasoning: Math.max(hidden, count(reasoning)),
  };
}
