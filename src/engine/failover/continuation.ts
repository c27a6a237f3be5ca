// An answer that another endpoint may complete when it breaks off. Remembers what the client was shown, says how to
// ask for the rest, and fits the rest to it. Who is asked, and when, is decided elsewhere.
import type { CanonicalEvent, CanonicalRequest, CloseEvent, Usage } from '../../canonical/index.ts';
import { isAssistantItem, NO_USAGE } from '../../canonical/index.ts';
import { estimatedTokens } from '../../accounts/ledger/index.ts';
import type { Attempt, AttemptOutput } from '../attempt/index.ts';
import { ContinuedOutput, type BegunAnswer } from './continued-output.ts';

/** White space at the end is trimmed: Anthropic refuses it in a prefill, and tokenizers put it before a word. */
const sayable = (text: string): string => text.trimEnd();

/**
 * True when the answer to a request could be continued by somebody else. An answer in JSON could not: servers that
 * enforce a format begin it anew. Neither could one that itself continues a message of the client's.
 */
export function isContinuable(request: CanonicalRequest): boolean {
  const last = request.items.at(-1);
  const free = request.responseFormat === undefined || request.responseFormat.type === 'text';
  return request.stream && free && last !== undefined && !isAssistantItem(last);
}

/** Stands between all attempts of one request and its client. The first attempt writes to it directly. */
export class ContinuableOutput implements AttemptOutput, BegunAnswer {
  readonly #client: AttemptOutput;
  #text = '';
  #reasoningChars = 0;
  /** The client's index of the one message, and whether it can still grow. */
  #message: number | undefined;
  #messageOpen = false;
  /** The end of the message waits for what comes next: an answer that breaks off there can still be continued. */
  #closing: CloseEvent | undefined;
  readonly #openReasoning = new Set<number>();
  #items = 0;
  #shown = false;
  /** True once the client has seen what a beginning of an answer cannot say. */
  #final = false;

  constructor(client: AttemptOutput) {
    this.#client = client;
  }

  /** True when the client was shown reasoning, or reasoning and the beginning of one text, and nothing else. */
  get canContinue(): boolean {
    return this.#shown && !this.#final;
  }

  /** True when the next endpoint must take the beginning of an answer; without text any endpoint will do. */
  get needsPrefill(): boolean {
    return sayable(this.#text) !== '';
  }

  /**
   * Request for the rest: the same with the text so far as the beginning of the answer and less room for it, without
   * reasoning, which would come after the text; or, without text, the same.
   */
  continuationRequest(request: CanonicalRequest): CanonicalRequest {
    if (!this.needsPrefill) return request;
    const text = sayable(this.#text);
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
   * The output for an attempt at the rest.
   * @param repeats true when its endpoint is known to begin with the text that it was given (quirk `prefill: prefix`)
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
