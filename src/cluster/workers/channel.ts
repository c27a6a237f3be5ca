// Remote calls between two processes, over any ordered channel for plain values.
import { errorText } from '../../base/lib/errors.ts';

/** Messages on the wire. */
type Message =
  | { readonly type: 'ask'; readonly id: number; readonly what: string; readonly input: unknown }
  | { readonly type: 'answer'; readonly id: number; readonly output?: unknown; readonly failure?: string };

type Answering = (input: unknown) => unknown;

interface PendingCall {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class Channel {
  readonly #send: (message: Message) => void;
  readonly #answers = new Map<string, Answering>();
  readonly #asked = new Map<number, PendingCall>();
  #lastId = 0;
  #isClosed = false;

  /** @param send sends a message to the other side's `take` */
  constructor(send: (message: unknown) => void) {
    this.#send = send;
  }

  /** Sets the handler of a call; replaces an earlier one. */
  answer(what: string, answering: Answering): void {
    this.#answers.set(what, answering);
  }

  /** Calls the other side. Rejects if its handler fails or the channel closes. */
  ask(what: string, input?: unknown): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(gone());
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<unknown>((resolve, reject) => this.#asked.set(id, { resolve, reject }));
    this.#send({ type: 'ask', id, what, input });
    return answer;
  }

  /** Takes a message from the other side. */
  take(message: unknown): void {
    const { type, id, ...rest } = message as Message;
    if (type === 'ask') void this.#reply(id, rest as Extract<Message, { type: 'ask' }>);
    else this.#settle(id, rest as Extract<Message, { type: 'answer' }>);
  }

  /** Rejects all pending calls, because the other side has ended. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#asked.values()) reject(gone());
    this.#asked.clear();
  }

  async #reply(
    id: number,
    { what, input }: Pick<Extract<Message, { type: 'ask' }>, 'what' | 'input'>,
  ): Promise<void> {
    try {
      const answering = this.#answers.get(what);
      if (!answering) throw new Error(`no handler for "${what}"`);
      this.#send({ type: 'answer', id, output: await answering(input) });
    } catch (error) {
      this.#send({ type: 'answer', id, failure: errorText(error) });
    }
  }

  #settle(
    id: number,
    { output, failure }: Pick<Extract<Message, { type: 'answer' }>, 'output' | 'failure'>,
  ): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (failure === undefined) asked?.resolve(output);
    else asked?.reject(new Error(failure));
  }
}

function gone(): Error {
  return new Error('the other process has ended');
}
