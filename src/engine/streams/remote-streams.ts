// Port for kept streams of other processes.
import type { Client } from '../call.ts';
import type { KeptStream } from './kept-stream.ts';
import type { Gone } from './kept-streams.ts';

/** A stream of another process, as it was at the time of the request. */
export interface RemoteStream extends Pick<KeptStream, 'first' | 'next' | 'opening' | 'hasEnded'> {
  /**
   * Sends a client what it lacks, then the rest as it is written. Never rejects.
   * @param after number of its last event; null: none
   * @returns once the client has everything; `gone`: the other process stopped sending before the end
   */
  follow(client: Client, after: number | null): Promise<'ended' | 'gone'>;
}

export interface RemoteStreams {
  /** Null: no process keeps it; `silent`: a process that may keep it did not reply in time. Never rejects. */
  find(projectId: string, id: string): Promise<RemoteStream | Gone | 'silent' | null>;
  /** Tells other processes to drop a stream whose answer was deleted. In unreachable ones it expires. */
  delete(projectId: string, id: string): void;
}
