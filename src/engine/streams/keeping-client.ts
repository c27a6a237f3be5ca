// Client of a run whose stream is kept. Decides when a disconnect stops the run.
import type { Clock } from '../../base/runtime/clock.ts';
import type { Body, Client, ClientStream } from '../call.ts';
import type { KeptStream, Patience } from './kept-stream.ts';
import type { KeptStreams } from './kept-streams.ts';

const EVENT_STREAM = 'text/event-stream';

export interface KeepingOptions {
  readonly streams: KeptStreams;
  readonly projectId: string;
  readonly writesIds: boolean;
  readonly patience: Patience;
  readonly clock: Pick<Clock, 'after'>;
}

export class KeepingClient implements Client {
  readonly #client: Client;
  readonly #options: KeepingOptions;
  #kept: KeptStream | undefined;
  #left: (() => void) | undefined;

  constructor(client: Client, options: KeepingOptions) {
    this.#client = client;
    this.#options = options;
  }

  respond(status: number, headers: Readonly<Record<string, string>>, body: Body): void {
    this.#client.respond(status, headers, body);
  }

  openStream(headers: Readonly<Record<string, string>>): ClientStream {
    const { streams, projectId, writesIds, patience } = this.#options;
    // A stream that is one JSON array has no events.
    if (headers['content-type']?.startsWith(EVENT_STREAM) !== true) return this.#client.openStream(headers);
    const id = headers['x-request-id'] ?? '';
    const kept = streams.open({ id, projectId, headers, writesIds, patience });
    this.#kept = kept;
    kept.onLeave(() => this.#left?.());
    kept.join(this.#client, null);
    return kept;
  }

  onLeave(left: () => void): void {
    this.#left = left;
    this.#client.onLeave(() => {
      // Once the head was sent, the stream detects the disconnect itself.
      if (this.#kept) return;
      const { patience, clock } = this.#options;
      if (patience <= 0) left();
      else if (patience !== Infinity) clock.after(patience, left);
    });
  }
}
