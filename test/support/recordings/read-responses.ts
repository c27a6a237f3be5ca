// Reads recorded Responses answers: what their bytes say, by the plainest means and without the product's own
// code.
import type { Recording } from './corpus.ts';
import { at, count, framesOf, list, word } from './loose.ts';
import type { Loose } from './loose.ts';
import { endOf, emptySaid, saidCall } from './said.ts';
import type { Said } from './said.ts';

/** Reads a recorded Responses answer. A stream is read by its finished items and its finished answer. */
export function readResponses({ res }: Pick<Recording, 'res'>): Said {
  if (res.kind === 'json') return readAnswer(res.json ?? {}, new Map());
  const finished = new Map<string, Loose>();
  let answer: Loose = {};
  for (const { data } of framesOf(res.text ?? '')) {
    if (data === '[DONE]') continue;
    const frame = JSON.parse(data) as Loose;
    const type = word(frame['type']);
    if (type === 'response.output_item.done')
      finished.set(word(at(frame, 'item', 'id')), frame['item'] ?? {});
    if (/^response\.(completed|incomplete|failed)$/.test(type)) answer = frame['response'] ?? {};
  }
  return readAnswer(answer, finished);
}

/** @param finished items by id as the stream gave them: OpenAI encrypts anew for the finished answer */
function readAnswer(answer: Loose, finished: ReadonlyMap<string, Loose>): Said {
  const said = emptySaid();
  const status = word(at(answer, 'status'));
  // `complete` stands in fixtures that their authors wrote by hand.
  if (!/^(completed?|incomplete)$/.test(status)) return said;
  const reasoning: string[] = [];
  for (const item of list(at(answer, 'output'))) {
    switch (word(item['type'])) {
      case 'message':
        for (const part of list(item['content'])) readPart(part, said);
        break;
      case 'reasoning': {
        const parts = [...list(item['summary']), ...list(item['content'])];
        reasoning.push(...parts.map((part) => word(part['text'])).filter(Boolean));
        const state = word(at(finished.get(word(item['id'])), 'encrypted_content'));
        const opaque = state || word(item['encrypted_content']);
        if (opaque !== '') said.opaque.push(opaque);
        break;
      }
      case 'function_call':
        said.calls.push(saidCall('function', word(item['name']), word(item['arguments'])));
        break;
      case 'custom_tool_call':
        said.calls.push(saidCall('custom', word(item['name']), word(item['input'])));
    }
  }
  said.reasoning = reasoning.join('\n\n');
  const filtered = word(at(answer, 'incomplete_details', 'reason')) === 'content_filter';
  const reason = status !== 'incomplete' ? 'stop' : filtered ? 'content_filter' : 'length';
  said.end = endOf(reason, said.calls.length);
  const usage = at(answer, 'usage');
  if (!usage) return said;
  said.tokens = {
    prompt: count(usage['input_tokens']),
    cached: count(at(usage, 'input_tokens_details', 'cached_tokens')),
    written: count(at(usage, 'input_tokens_details', 'cache_write_tokens')),
    completion: count(usage['output_tokens']),
    reasoning: count(at(usage, 'output_tokens_details', 'reasoning_tokens')),
  };
  return said;
}

function readPart(part: Loose, said: Said): void {
  said.text += word(part['text']);
  said.refusal += word(part['refusal']);
  for (const annotation of list(part['annotations']))
    if (word(annotation['url']) !== '') said.citations.push(word(annotation['url']));
}
