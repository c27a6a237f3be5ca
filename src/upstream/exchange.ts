// One request and its answer, as whoever sends it sees them. Knows no sockets.
import type { Slices } from '../base/lib/slices.ts';
import type { ResponseHead } from './response-parser.ts';

/**
 * `stale`: a connection that had waited since an earlier request was closed before any answer came. The peer most likely
 * closed it while the request was on its way, and may have received it all the same.
 */
export type TransportFailure = 'connect' | 'stale' | 'reset' | 'cut' | 'protocol';

export interface UpstreamListener {
  /** The request goes out over its connection: called right before its first byte does. */
  connected(): void;
  head(head: ResponseHead): void;
  /** At most one call per read. */
  data(bytes: Buffer): void;
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

/** The part of its connection that an exchange uses. */
interface Carrier {
  terminate(): void;
  pause(): void;
  resume(): void;
}

/** One request and its response; survives the change of a stale connection for a fresh one, unless that is to be told. */
export class Exchange implements UpstreamCall {
  /** The whole request; empty once an answer has begun, when it can no longer be sent again. */
  bytes: Slices;
  readonly listener: UpstreamListener;
  /** True: whoever sends it wants to know of every time that it goes out. */
  readonly isSendReported: boolean;
  connection: Carrier | undefined;
  paused = false;
  aborted = false;

  constructor(bytes: Slices, listener: UpstreamListener, isSendReported: boolean) {
    this.bytes = bytes;
    this.listener = listener;
    this.isSendReported = isSendReported;
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
