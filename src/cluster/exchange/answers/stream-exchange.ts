// Resumes a kept stream at another process than the one that keeps it. All processes are asked for the stream, and its owner
// publishes the missing events through the answer store. Other streams cost nothing.
import { KeptStream, type KeptStreams } from '../../../engine/index.ts';
import type { Client, Gone, RemoteStream, RemoteStreams } from '../../../engine/index.ts';
import { isJsonObject, parseJson } from '../../../base/json/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import { newId } from '../../../base/runtime/ids.ts';
import type { PubSub } from '../pub-sub.ts';
import type { ExchangedAnswers } from './exchanged-answers.ts';

/** Milliseconds within which all processes must reply. */
const ASK_MS = 1_000;
/** Maximum number of pending questions. Further ones are not asked. */
const MOST_ASKED = 1_000;

/**
 * `ask`: which process keeps a stream? `has`: this process does or did. `none`: it does not. `follow`: publish the events
 * after one. `delete`: delete a stream.
 */
type Message =
  | { readonly type: 'delete'; readonly project: string; readonly id: string }
  | { readonly type: 'ask'; readonly ask: string; readonly project: string; readonly id: string }
  | ({ readonly type: 'has'; readonly ask: string } & RemoteState)
  | { readonly type: 'has'; readonly ask: string; readonly gone: Gone }
  | { readonly type: 'none'; readonly ask: string }
  | {
      readonly type: 'follow';
      readonly run: string;
      readonly project: string;
      readonly id: string;
      readonly after: number | null;
    };

type RemoteState = Pick<RemoteStream, 'first' | 'next' | 'opening' | 'hasEnded'>;

interface Question {
  /** Number of processes that do not keep the stream. */
  without: number;
  readonly found: (reply: RemoteState | Gone) => void;
}

export interface StreamExchangeOptions {
  readonly pubSub: PubSub;
  readonly answers: Pick<ExchangedAnswers, 'publishOnce' | 'followOnce'>;
  readonly streams: Pick<KeptStreams, 'find' | 'delete'>;
  readonly clock: Pick<Clock, 'after'>;
}

export class StreamExchange implements RemoteStreams {
  readonly #options: StreamExchangeOptions;
  readonly #asked = new Map<string, Question>();

  constructor(options: StreamExchangeOptions) {
    this.#options = options;
    options.pubSub.subscribe('streams', (text) => {
      const message = parseJson(text);
      // Trusted, because it comes from this installation, and is signed if others could publish on the channel.
      if (isJsonObject(message)) this.#take(message as unknown as Message);
    });
  }

  async find(project: string, id: string): Promise<RemoteStream | Gone | 'silent' | null> {
    if (this.#asked.size >= MOST_ASKED) return 'silent';
    const { pubSub, clock } = this.#options;
    const ask = newId('ask_');
    const found = await new Promise<RemoteState | Gone | 'silent' | null>((resolve) => {
      // Undefined: the question is not published yet. Null: the number of receivers is unknown.
      let receivers: number | null | undefined;
      const question: Question = {
        without: 0,
        found(reply) {
          stop();
          resolve(reply);
        },
      };
      const stop = clock.after(ASK_MS, () => {
        const isSilent = receivers === undefined || question.without < (receivers ?? 0);
        resolve(isSilent ? 'silent' : null);
      });
      this.#asked.set(ask, question);
      const message: Message = { type: 'ask', ask, project, id };
      void pubSub.publishCounted('streams', JSON.stringify(message)).then((count) => (receivers = count));
    }).finally(() => this.#asked.delete(ask));
    if (found === null || typeof found === 'string') return found;
    return { ...found, follow: (client, after) => this.#follow({ project, id, after }, client) };
  }

  delete(project: string, id: string): void {
    this.#publish({ type: 'delete', project, id });
  }

  async #follow(
    what: { readonly project: string; readonly id: string; readonly after: number | null },
    client: Client,
  ): Promise<'ended' | 'gone'> {
    const run = newId('run_');
    this.#publish({ type: 'follow', run, ...what });
    const end = await this.#options.answers.followOnce(run, client);
    return end === 'gone' ? 'gone' : 'ended';
  }

  #take(message: Message): void {
    if (message.type === 'has')
      return this.#asked.get(message.ask)?.found('gone' in message ? message.gone : message);
    if (message.type === 'none') {
      const question = this.#asked.get(message.ask);
      if (question) question.without += 1;
      return;
    }
    const { streams } = this.#options;
    if (message.type === 'delete') return streams.delete(message.project, message.id);
    const stream = streams.find(message.project, message.id);
    if (message.type === 'ask') this.#publish(replyOf(message.ask, stream));
    else if (message.type === 'follow' && stream instanceof KeptStream) {
      const { run, after } = message;
      this.#options.answers.publishOnce(run, {
        isKept: () => stream.isKept,
        join(reader) {
          if (stream.isKept) stream.join(reader, after);
          return stream.isKept;
        },
      });
    }
  }

  #publish(message: Message): void {
    this.#options.pubSub.publish('streams', JSON.stringify(message));
  }
}

function replyOf(ask: string, stream: KeptStream | Gone | null): Message {
  if (stream === null) return { type: 'none', ask };
  if (typeof stream === 'string') return { type: 'has', ask, gone: stream };
  const { first, next, opening, hasEnded } = stream;
  return { type: 'has', ask, first, next, opening, hasEnded };
}
