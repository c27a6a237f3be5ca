// Both ends of a machine: clients that keep what they get, and an upstream that says what it is told to.
import { joined } from '../../src/base/lib/bytes.ts';
import type { Client, ClientStream } from '../../src/engine/index.ts';
import {
  type UpstreamCall,
  UpstreamClient,
  type UpstreamListener,
  type UpstreamRequest,
} from '../../src/upstream/client.ts';
import { ResponseHead } from '../../src/upstream/response-parser.ts';
import { chatBody, chatChunk, CHAT_OPENING } from '../support/upstreams/answers.ts';
import { at, type Json } from '../support/upstreams/json-path.ts';
import { searxngAnswer } from '../support/upstreams/search-stub.ts';

/** Characters that are one token by estimate. */
const WORD = 'abcd';

export class MemoryClient implements Client, ClientStream {
  status: number | null = null;
  id = '';
  text = '';
  isOver = false;
  readonly #receives: () => boolean;
  #hasLeft = false;
  #notify = (): void => {};

  /** @param hears false once the process is dead: nothing comes any more */
  constructor(receives: () => boolean) {
    this.#receives = receives;
  }

  /** Tokens of an answer that it has. Of streams the pieces count: some say all of it once more at their end. */
  get tokens(): number {
    const pieces = this.text.startsWith('{')
      ? [this.text]
      : this.text
          .split('\n')
          .filter((line) => line.startsWith('data: {'))
          .map((line) => JSON.parse(line.slice(6)) as Json)
          .map((data) => String(at(data, 'delta') ?? at(data, 'choices', 0, 'delta', 'content') ?? ''));
    return pieces.join('').split(WORD).length - 1;
  }

  respond(status: number, headers: Readonly<Record<string, string>>, body: string): void {
    if (!this.#isThere()) return;
    this.#opened(status, headers);
    this.text += body;
    this.isOver = true;
  }

  openStream(headers: Readonly<Record<string, string>>): this {
    if (this.#isThere()) this.#opened(200, headers);
    return this;
  }

  onLeave(left: () => void): void {
    if (this.#hasLeft) left();
    else this.#notify = left;
  }

  write(data: string): boolean {
    if (this.#isThere()) this.text += data;
    return true;
  }

  onDrain(): void {}

  end(): void {
    if (this.#isThere()) this.isOver = true;
  }

  leave(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#hasLeft = true;
    this.#notify();
  }

  #isThere(): boolean {
    return !this.#hasLeft && this.#receives();
  }

  #opened(status: number, headers: Readonly<Record<string, string>>): void {
    this.status = status;
    this.id = headers['x-request-id'] ?? '';
  }
}

/** One request to the model. */
export class Exchange implements UpstreamCall {
  readonly #request: unknown;
  readonly #listener: UpstreamListener;
  #isOver = false;
  #isOpen = false;
  #tokens = 0;

  constructor(request: unknown, listener: UpstreamListener) {
    this.#request = request;
    this.#listener = listener;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  abort(): void {
    this.#isOver = true;
  }

  pause(): void {}
  resume(): void {}

  /** Says so many tokens of an answer; one that is not streamed says them at its end, as many as it may. */
  say(tokens: number): void {
    const most = Number(at(this.#request, 'max_completion_tokens') ?? at(this.#request, 'max_tokens') ?? 100);
    this.#tokens += this.#isStream ? tokens : Math.min(tokens, most - this.#tokens);
    if (!this.#isStream) return;
    this.#open();
    this.#data(chatChunk({ content: WORD.repeat(tokens) }));
  }

  /** Ends the answer, with a call of the gateway's search where one is wanted and may be. */
  finish(search: boolean): void {
    const mayCall = JSON.stringify(at(this.#request, 'tools') ?? []).includes('web_search');
    const calls =
      search && mayCall && at(this.#request, 'tool_choice') !== 'none'
        ? [{ id: 'call_1', type: 'function', function: { name: 'web_search', arguments: '{"query":"q"}' } }]
        : [];
    const usage = { prompt_tokens: 7, completion_tokens: this.#tokens, total_tokens: 7 + this.#tokens };
    const finish = calls.length > 0 ? 'tool_calls' : 'stop';
    this.#open();
    this.#isOver = true;
    const content = this.#isStream ? undefined : WORD.repeat(this.#tokens);
    if (!this.#isStream)
      this.#data(
        JSON.stringify({
          ...chatBody({ content, ...(calls.length > 0 && { tool_calls: calls }) }, finish),
          usage,
        }),
      );
    else {
      if (calls.length > 0)
        this.#data(chatChunk({ tool_calls: calls.map((call, index) => ({ index, ...call })) }));
      const counted = {
        id: 'chatcmpl-up',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [],
        usage,
      };
      this.#data(`${chatChunk({}, finish)}data: ${JSON.stringify(counted)}\n\ndata: [DONE]\n\n`);
    }
    this.#listener.end();
  }

  cut(): void {
    this.#isOver = true;
    this.#listener.failed('cut', 'the connection broke off');
  }

  refuse(): void {
    if (this.#isOpen) return this.cut();
    this.#isOver = true;
    this.#listener.head(headOf(500, 'application/json'));
    this.#data('{"error":{"message":"scripted","type":"server_error"}}');
    this.#listener.end();
  }

  #data(text: string): void {
    this.#listener.data(Buffer.from(text));
  }

  get #isStream(): boolean {
    return at(this.#request, 'stream') === true;
  }

  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#listener.head(headOf(200, this.#isStream ? 'text/event-stream' : 'application/json'));
    if (this.#isStream) this.#data(CHAT_OPENING);
  }
}

/** Takes what the gateway sends: searches are answered at once, and models when somebody says so. */
export class ScriptedSender extends UpstreamClient {
  readonly #exchanges: Exchange[] = [];

  /** Requests to the model that wait for more of their answer, the oldest first. */
  get open(): readonly Exchange[] {
    return this.#exchanges.filter(({ isOver }) => !isOver);
  }

  override send({ body }: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
    queueMicrotask(() => listener.connected());
    if (body.length > 0) {
      const exchange = new Exchange(JSON.parse(joined(body).toString()), listener);
      this.#exchanges.push(exchange);
      return exchange;
    }
    let isAborted = false;
    queueMicrotask(() => {
      if (isAborted) return;
      listener.head(headOf(200, 'application/json'));
      listener.data(Buffer.from(JSON.stringify(searxngAnswer([]))));
      listener.end();
    });
    return {
      abort: () => {
        isAborted = true;
      },
      pause: () => {},
      resume: () => {},
    };
  }
}

function headOf(status: number, type: string): ResponseHead {
  return new ResponseHead(status, `HTTP/1.1 ${status} Scripted\r\ncontent-type: ${type}\r\n`);
}
