// An interrupted answer that another endpoint may complete. Tracks what the client received, builds the request for the
// rest, and joins both parts.
import type { CanonicalEvent, CanonicalRequest, CloseEvent, Usage } from '../../canonical/index.ts';
import { isAssistantItem, NO_USAGE } from '../../canonical/index.ts';
import { estimatedTokens } from '../../accounts/ledger/index.ts';
import type { Attempt, AttemptOutput } from '../attempt/index.ts';
import { ContinuedOutput, type BegunAnswer } from './continued-output.ts';

/** Trailing white space is removed: Anthropic refuses it in a prefill, and tokenizers put it before a word. */
const trimmed = (text: string): string => text.trimEnd();

/**
 * True when another endpoint could continue the answer. A JSON answer cannot be continued, because servers that enforce
 * a format start it again. Neither can one that continues a message of the client.
 */
export function isContinuable(request: CanonicalRequest): boolean {
  const last = request.items.at(-1);
  const free = request.responseFormat === undefined || request.responseFormat.type === 'text';
  return request.stream && free && last !== undefined && !isAssistantItem(last);
}

/** Output between all attempts of one request and its client. The first attempt writes to it directly. */
export class ContinuableOutput implements AttemptOutput, BegunAnswer {
  readonly #client: AttemptOutput;
  #text = '';
  #reasoningChars = 0;
  /** Client's index of the only message, and whether it can still grow. */
  #message: number | undefined;
  #messageOpen = false;
  /** The end of the message is held back, so that an answer interrupted there can still be continued. */
  #closing: CloseEvent | undefined;
  readonly #openReasoning = new Set<number>();
  #items = 0;
  #shown = false;
  /** True once the client received something that a prefill cannot express. */
  #final = false;

  constructor(client: AttemptOutput) {
    this.#client = client;
  }

  /** True when the client received reasoning, or the beginning of one text, and nothing else. */
  get canContinue(): boolean {
    return this.#shown && !this.#final;
  }

  /** True when the next endpoint must support a prefill. Without text, any endpoint will do. */
  get needsPrefill(): boolean {
    return trimmed(this.#text) !== '';
  }

  /**
   * Request for the rest. With text: the text so far as prefill, a reduced output limit, and no reasoning, which would
   * follow the text. Without text: the original request.
   */
  continuationRequest(request: CanonicalRequest): CanonicalRequest {
    if (!this.needsPrefill) return request;
    const text = trimmed(this.#text);
    const { maxOutputTokens: limit } = request;
    return {
      ...request,
      items: [...request.items, { type: 'message', role: 'assistant', parts: [{ type: 'text', text }] }],
      prefill: true,
      reasoning: { enabled: false },
      maxOutputTokens: limit && Math.max(1, limit - estimatedTokens(text.length)),
    };
  }

  /**
   * Output for an attempt at the rest.
   * @param repeats true when the endpoint is known to repeat the prefill (quirk `prefill: prefix`)
   */
  continued(repeats = false): AttemptOutput {
    this.#closing = undefined;
    return new ContinuedOutput(this, this.#client, repeats);
  }

  get keeps(): boolean {
    return !this.#final || this.#client.keeps;
  }

  commit(by: Attempt): void {
    this.#client.commit(by);
  }

  on(event: CanonicalEvent): void {
    this.show(event);
  }

  relay(bytes: string): void {
    this.#final = true;
    this.#client.relay(bytes);
  }

  relayWhole(body: Buffer): void {
    this.#final = true;
    this.#client.relayWhole(body);
  }

  finishing(): void {
    this.#client.finishing();
  }

  flush(): void {
    this.#client.flush();
  }

  get text(): string {
    return this.#text;
  }

  get openMessage(): number | undefined {
    return this.#messageOpen && !this.#closing ? this.#message : undefined;
  }

  get openReasoning(): readonly number[] {
    return [...this.#openReasoning];
  }

  get items(): number {
    return this.#items;
  }

  produced(): Usage['output'] {
    return {
      ...NO_USAGE.output,
      text: estimatedTokens(this.#text.length),
      reasoning: estimatedTokens(this.#reasoningChars),
    };
  }

  show(event: CanonicalEvent): void {
    if (event.type === 'close' && event.index === this.#message && this.#messageOpen) {
      this.#closing = event;
      return;
    }
    if (this.#closing && event.type !== 'usage' && event.type !== 'unknown') this.#close(this.#closing);
    this.#note(event);
    this.#client.on(event);
  }

  #close(closing: CloseEvent): void {
    this.#closing = undefined;
    this.#messageOpen = false;
    this.#final = true;
    this.#client.on(closing);
  }

  #note(event: CanonicalEvent): void {
    switch (event.type) {
      case 'open': {
        this.#items = Math.max(this.#items, event.index + 1);
        const { type } = event.item;
        if (type === 'reasoning') this.#openReasoning.add(event.index);
        else if (type === 'message' && this.#message === undefined) {
          this.#message = event.index;
          this.#messageOpen = true;
        } else this.#final = true;
        this.#shown = true;
        return;
      }
      case 'text':
        if (event.kind === 'refusal' || event.part > 0) this.#final = true;
        this.#text += event.text;
        return;
      case 'reasoning':
        this.#reasoningChars += event.text.length;
        return;
      case 'close':
        this.#openReasoning.delete(event.index);
        return;
      case 'annotate':
      case 'finish':
        this.#final = true;
        return;
      default:
    }
  }
}
