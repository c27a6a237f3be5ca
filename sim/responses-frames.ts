// Events of a Responses stream (recorded streams of 2025 and 2026): created, in progress, each output item added,
// filled and done, and the final response.
import type { JsonObject } from '../src/base/json/index.ts';
import { asArray, asObject, asString } from '../src/base/json/index.ts';
import type { Answering, Frame } from './dialect.ts';
import { eventFrame } from './sse.ts';
import { textPieces } from './tokens.ts';

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed';

/**
 * Frames of an answer.
 * @param items complete output items
 * @param response creates the response object for a status
 */
export function encodeResponsesFrames(
  answering: Answering,
  items: readonly JsonObject[],
  response: (status: ResponseStatus, items: readonly JsonObject[]) => JsonObject,
  status: ResponseStatus,
): Frame[] {
  const writer = new FrameWriter(answering.cutAt);
  writer.push('head', 'response.created', { response: response('in_progress', []) });
  writer.push('head', 'response.in_progress', { response: response('in_progress', []) });
  items.forEach((item, index) => writer.item(item, index));
  writer.push('done', `response.${status}`, { response: response(status, items) });
  return writer.frames;
}

class FrameWriter {
  readonly frames: Frame[] = [];
  readonly #cutAt: number;

  constructor(cutAt: number) {
    this.#cutAt = cutAt;
  }

  push(phase: Frame['phase'], type: string, more: JsonObject, chars = 0): void {
    this.frames.push({
      phase,
      chars,
      text: eventFrame(type, { type, sequence_number: this.frames.length, ...more }),
    });
  }

  item(item: JsonObject, output_index: number): void {
    this.push('content', 'response.output_item.added', { output_index, item: opened(item) });
    const place = { item_id: asString(item['id']) ?? '', output_index };
    switch (item['type']) {
      case 'reasoning':
        asArray(item['summary']).forEach((part, i) =>
          this.#summary(asString(asObject(part)['text']) ?? '', { ...place, summary_index: i }),
        );
        break;
      case 'web_search_call':
        for (const step of ['in_progress', 'searching', 'completed'])
          this.push('content', `response.web_search_call.${step}`, place);
        break;
      case 'message':
        asArray(item['content']).forEach((part, i) =>
          this.#part(asObject(part), { ...place, content_index: i }),
        );
        break;
      case 'function_call':
        this.#input(
          'response.function_call_arguments',
          'arguments',
          asString(item['arguments']) ?? '',
          place,
        );
        break;
      case 'custom_tool_call':
        this.#input('response.custom_tool_call_input', 'input', asString(item['input']) ?? '', place);
        break;
      default:
        // Other items are sent whole.
        break;
    }
    this.push('content', 'response.output_item.done', { output_index, item });
  }

  #summary(text: string, place: JsonObject): void {
    this.push('content', 'response.reasoning_summary_part.added', {
      ...place,
      part: { type: 'summary_text', text: '' },
    });
    for (const delta of textPieces(text))
      this.push('content', 'response.reasoning_summary_text.delta', { ...place, delta });
    this.push('content', 'response.reasoning_summary_text.done', { ...place, text });
    this.push('content', 'response.reasoning_summary_part.done', {
      ...place,
      part: { type: 'summary_text', text },
    });
  }

  #part(part: JsonObject, place: JsonObject): void {
    const refusal = part['type'] === 'refusal';
    const text = asString(part[refusal ? 'refusal' : 'text']) ?? '';
    const empty = refusal ? { ...part, refusal: '' } : { ...part, annotations: [], text: '' };
    const extra = refusal ? {} : { logprobs: [] };
    const name = refusal ? 'response.refusal' : 'response.output_text';
    this.push('content', 'response.content_part.added', { ...place, part: empty });
    for (const delta of textPieces(text, this.#cutAt))
      this.push('content', `${name}.delta`, { ...place, delta, ...extra }, delta.length);
    asArray(part['annotations']).forEach((annotation, i) => {
      this.push('content', 'response.output_text.annotation.added', {
        ...place,
        annotation_index: i,
        annotation,
      });
    });
    this.push('content', `${name}.done`, { ...place, [refusal ? 'refusal' : 'text']: text, ...extra });
    this.push('content', 'response.content_part.done', { ...place, part });
  }

  #input(event: string, key: string, text: string, place: JsonObject): void {
    for (const delta of textPieces(text))
      this.push('content', `${event}.delta`, { ...place, delta }, delta.length);
    this.push('content', `${event}.done`, { ...place, [key]: text });
  }
}

/** An item as in `output_item.added`: the same members, but empty. */
function opened(item: JsonObject): JsonObject {
  switch (item['type']) {
    case 'reasoning':
      return { ...item, summary: [] };
    case 'message':
      return { ...item, status: 'in_progress', content: [] };
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' };
    case 'custom_tool_call':
      return { ...item, status: 'in_progress', input: '' };
    default: {
      const { action: _later, ...known } = item;
      return { ...known, status: 'in_progress' };
    }
  }
}
