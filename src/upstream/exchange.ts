// One request and its answer, as whoever sends it sees them. Knows no sockets.
import type { ResponseHead } from './response-parser.ts';

export type TransportFailure = 'connect' | 'reset' | 'cut' | 'protocol';

export interface UpstreamListener {
  /** The request has been handed to a connection. */
  connected(): void;
  head(head: ResponseHead): void;
  /** Byte string; at most one call per read. */
  data(bytes: string): void;
  end(): void;
  /** Exactly one of `end` and `failed` is called, unless the call was aborted. */
  failed(failure: TransportFailure, message: string): void;
}

export interface UpstreamCall {
  /** Closes the connection; the listener hears nothing more. */
  abort(): void;
  pause(): void;
  resume(): void;
}

/** What an exchange needs of the connection that carries it. */
interface Carrier {
  terminate(): void;
  pause(): void;
  resume(): void;
}

/** One request and its response; survives the change of a stale connection for a fresh one. */
export class Exchange implements UpstreamCall {
  /** The whole request; empty once an answer has begun, when it can no longer be sent again. */
  bytes: string;
  readonly listener: UpstreamListener;
  connection: Carrier | undefined;
  paused = false;
  aborted = false;

  constructor(bytes: string, listener: UpstreamListener) {
    this.bytes = bytes;
    this.listener = listener;
  }

  abort(): void {
    this.aborted = true;
    this.connection?.terminate();
  }

  pause(): void {
    if (this.paused) return;
    this.paused = true;
    this.connection?.pause();
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.connection?.resume();
  }
}
