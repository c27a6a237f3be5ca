// Kept streams of other processes, as a port.
import type { Client } from '../call.ts';
import type { KeptStream } from './kept-stream.ts';
import type { Gone } from './kept-streams.ts';

/** A stream that another process keeps, as it stood when it was asked for. */
export interface RemoteStream extends Pick<KeptStream, 'first' | 'next' | 'opening' | 'hasEnded'> {
  /**
   * Gives a client what it has not got, then the rest as it comes. Never rejects.
   * @param after number of its last event; null: it has none
   * @returns once the client has all that it will get; `gone`: the other process told nothing more before the end
   */
  follow(client: Client, after: number | null): Promise<'ended' | 'gone'>;
}

export interface RemoteStreams {
  /** Null: no other process that can be reached keeps it. Never rejects. */
  find(projectId: string, id: string): Promise<RemoteStream | Gone | null>;
  /** Has other processes forget a stream whose answer was deleted. One that is not reached forgets it with time. */
  delete(projectId: string, id: string): void;
}
