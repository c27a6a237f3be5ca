// Reads recorded Anthropic Messages answers: what their bytes say, by the plainest means and without the
// product's own code.
import type { Recording } from './corpus.ts';
import { at, count, framesOf, list, word } from './loose.ts';
import type { Loose } from './loose.ts';
import { endOf, emptySaid, saidCall } from './said.ts';
import type { Said, SaidTokens } from './said.ts';

type Block = Record<string, unknown>;

/**
 * Reads a recorded Messages answer. Fixtures that hold the streams of several requests are read up to the
 * first `message_stop`, as a client would.
 */
export function readMessages({ res }: Pick<Recording, 'res'>): Said {
  if (res.kind === 'json') return readAnswer(res.json ?? {}, [at(res.json, 'usage')]);
  const blocks: Block[] = [];
  const usages: (Loose | undefined)[] = [];
  let stop: Loose | undefined;
  for (const { data } of framesOf(res.text ?? '')) {
    const frame = JSON.parse(data) as Loose;
    const type = word(frame['type']);
    if (type === 'error') return emptySaid();
    if (type === 'message_stop')
      return readAnswer({ ...stop, content: blocks as unknown as Loose } as Loose, usages);
    if (type === 'message_start') usages.push(at(frame, 'message', 'usage'));
    if (type === 'message_delta') {
      stop = at(frame, 'delta');
      usages.push(at(frame, 'usage'));
    }
    const index = count(frame['index']);
    if (type === 'content_block_start') blocks[index] = { ...at(frame, 'content_block') };
    if (type === 'content_block_delta') extend((blocks[index] ??= {}), at(frame, 'delta') ?? {});
  }
  return emptySaid();
}

function extend(block: Block, delta: Loose): void {
  for (const key of ['text', 'thinking', 'signature', 'partial_json'])
    if (delta[key] !== undefined) block[key] = word(block[key]) + word(delta[key]);
  if (delta['citation']) block['citations'] = [...list(block['citations'] as Loose), delta['citation']];
}

function readAnswer(answer: Loose, usages: readonly (Loose | undefined)[]): Said {
  const said = emptySaid();
  const reason = word(at(answer, 'stop_reason'));
  if (reason === '') return said;
  const reasoning: string[] = [];
  for (const block of list(at(answer, 'content'))) {
    switch (word(block['type'])) {
      case 'thinking':
      case 'redacted_thinking': {
        const state = word(block['signature']) || word(block['data']);
        if (word(block['thinking']) !== '') reasoning.push(word(block['thinking']));
        if (state !== '') said.opaque.push(state);
        break;
      }
      case 'tool_use': {
        const input = word(block['partial_json']) || JSON.stringify(block['input'] ?? {});
        said.calls.push(saidCall('function', word(block['name']), input));
        break;
      }
      case 'text':
        said.text += word(block['text']);
        for (const citation of list(block['citations']))
          if (word(citation['url']) !== '') said.citations.push(word(citation['url']));
    }
  }
  said.reasoning = reasoning.join('\n\n');
  if (reason === 'refusal') said.refusal = word(at(answer, 'stop_details', 'explanation'));
  const length = reason === 'max_tokens' || reason === 'model_context_window_exceeded';
  const filtered = reason === 'refusal' && said.refusal === '';
  said.end = endOf(length ? 'length' : filtered ? 'content_filter' : 'stop', said.calls.length);
  said.tokens = readTokens(usages);
  return said;
}

/** `message_delta` repeats the counts of `message_start`, cumulatively, or leaves them out: the last ones count. */
function readTokens(usages: readonly (Loose | undefined)[]): SaidTokens | null {
  if (usages.every((usage) => usage === undefined)) return null;
  const last = (...path: readonly string[]): number =>
    count(usages.map((usage) => at(usage, ...path)).findLast((value) => value !== undefined));
  const cached = last('cache_read_input_tokens');
  const written = last('cache_creation_input_tokens');
  return {
    prompt: last('input_tokens') + cached + written,
    cached,
    written,
    completion: last('output_tokens'),
    reasoning: last('output_tokens_details', 'thinking_tokens'),
  };
}
