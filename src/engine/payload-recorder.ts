// Port for recording the payloads of both sides of a request. They are recorded by reference while the request runs,
// and processed afterwards.
import type { Endpoint } from '../catalog/index.ts';
import type { GenerationRecord } from '../accounts/ledger/index.ts';
import type { Sender } from '../upstream/client.ts';
import type { ApiCall, Client } from './call.ts';

export interface PayloadRecorders {
  /** Starts recording a call. Null: nothing is kept. Never throws. */
  open(call: ApiCall): PayloadRecorder | null;
}

/** Recorder of one request. Its members never throw or wait. */
export interface PayloadRecorder {
  /** The call's client, with its output recorded. */
  readonly client: Client;
  /** True when anything will be kept. @param failed true: the request, or an attempt of it, failed */
  keeps(failed: boolean): boolean;
  /** @param ordinal number of the attempt */
  attempt(ordinal: number, endpoint: Endpoint): AttemptRecorder;
  /** The request was recorded under this id. */
  settled(generation: Pick<GenerationRecord, 'id' | 'createdAt'>, failed: boolean): void;
  /** Ends the recording. */
  close(): void;
}

export interface AttemptRecorder {
  /** Wraps a sender so that requests and answers are recorded. */
  over(sender: Pick<Sender, 'send' | 'now' | 'wall'>): Pick<Sender, 'send' | 'now' | 'wall'>;
}
