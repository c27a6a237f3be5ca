// Decodes reasoning of a message or its deltas into reasoning items: plain text (`reasoning_content`, `reasoning`) and
// the typed elements of `reasoning_details`.
import type { JsonObject } from '../../../base/json/index.ts';
import { asString, isJsonObject } from '../../../base/json/index.ts';
import type { ItemWriter } from '../../streams/item-writer.ts';

type DetailKind = 'plain' | 'text' | 'summary' | 'encrypted';

/** Holds the open reasoning item of one answer. At most one is open. */
export class ReasoningDecoder {
  readonly #out: ItemWriter;
  #index = -1;
  #kind: DetailKind = 'plain';
  #format: string | undefined;
  #detailIndex: unknown;
  #id: string | undefined;
  #part = 0;
  #opaque = '';

  constructor(out: ItemWriter) {
    this.#out = out;
  }

  /** Takes a fragment of plain reasoning, whose format is unknown. */
  text(text: string): void {
    if (this.#index < 0 || this.#kind !== 'plain') this.#open('plain', undefined, undefined, undefined);
    this.#out.reasoning(this.#index, text);
  }

  /**
   * Takes a signature of a whole message, which is sent outside of `reasoning_details`.
   * @param format the family that can read it
   */
  signature(data: string, format: string): void {
    this.#open('encrypted', format, undefined, undefined);
    this.#kind = 'text';
    this.#opaque = data;
    this.close();
  }

  /**
   * Takes the elements of one `reasoning_details` array. Fragments with the same `index` and `format` continue an item,
   * and an encrypted element completes the summary before it (OpenRouter, "Reasoning Tokens", 2026-08). Elements of
   * other types become unknown items.
   */
  details(details: readonly unknown[]): void {
    for (let at = 0; at < details.length; at++) {
      const detail = details[at];
      if (!isJsonObject(detail)) continue;
      const format = asString(detail['format']);
      switch (detail['type']) {
        case 'reasoning.text':
          this.#text(detail, format);
          break;
        case 'reasoning.summary':
          this.#summary(detail, format, asString(detail['id']) ?? followingId(details[at + 1], format));
          break;
        case 'reasoning.encrypted':
          this.#encrypted(detail, format);
          break;
        default:
          this.close();
          this.#unknown(detail);
      }
    }
  }

  /** Completes the open item, if there is one. */
  close(): void {
    if (this.#index < 0) return;
    const index = this.#index;
    this.#index = -1;
    if (this.#opaque !== '') {
      const kind = this.#kind === 'text' ? 'signature' : 'encrypted';
      const opaque = { format: this.#format ?? 'unknown', kind, data: this.#opaque } as const;
      this.#out.opaque(index, opaque, kind === 'signature' ? 'text' : 'summary');
      this.#opaque = '';
    }
    this.#out.close(index);
  }

  #text(detail: JsonObject, format: string | undefined): void {
    const text = asString(detail['text']) ?? '';
    const signature = asString(detail['signature']) ?? '';
    if (text === '' && signature === '') return;
    const continues =
      this.#continues('text', format, detail['index']) && (text === '' || this.#opaque === '');
    if (!continues) this.#open('text', format, detail['index'], asString(detail['id']));
    if (text !== '') this.#out.reasoning(this.#index, text);
    if (signature !== this.#opaque) this.#opaque += signature;
  }

  #summary(detail: JsonObject, format: string | undefined, id: string | undefined): void {
    const text = asString(detail['summary']) ?? '';
    if (text === '') return;
    const open =
      this.#index >= 0 && this.#kind === 'summary' && this.#format === format && this.#opaque === '';
    if (!open) this.#open('summary', format, detail['index'], id);
    else if (this.#detailIndex !== detail['index']) {
      this.#part++;
      this.#detailIndex = detail['index'];
    }
    this.#out.reasoning(this.#index, text, 'summary', this.#part);
  }

  #encrypted(detail: JsonObject, format: string | undefined): void {
    const data = asString(detail['data']) ?? '';
    if (data === '') return;
    const id = asString(detail['id']);
    const completes =
      this.#index >= 0 && this.#kind === 'summary' && this.#format === format && this.#opaque === '';
    const continues = this.#continues('encrypted', format, detail['index']) && this.#id === id;
    if (!completes && !continues) this.#open('encrypted', format, detail['index'], id);
    if (data !== this.#opaque) this.#opaque += data;
  }

  #unknown(detail: JsonObject): void {
    this.#out.whole({ type: 'unknown', source: { protocol: 'openai-chat', raw: detail } });
  }

  #continues(kind: DetailKind, format: string | undefined, detailIndex: unknown): boolean {
    return (
      this.#index >= 0 && this.#kind === kind && this.#format === format && this.#detailIndex === detailIndex
    );
  }

  #open(kind: DetailKind, format: string | undefined, detailIndex: unknown, id: string | undefined): void {
    this.close();
    this.#kind = kind;
    this.#format = format;
    this.#detailIndex = detailIndex;
    this.#id = id;
    this.#part = 0;
    this.#index = this.#out.open({ type: 'reasoning', id, format });
  }
}

/** The id of an encrypted element that completes a summary is only on that element. */
function followingId(next: unknown, format: string | undefined): string | undefined {
  if (!isJsonObject(next) || next['type'] !== 'reasoning.encrypted' || asString(next['format']) !== format)
    return undefined;
  return asString(next['id']);
}
