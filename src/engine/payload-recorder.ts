// Payloads of each side of a request, for whoever keeps them: recorded while the request runs, and looked at only afterwards.
// Knows neither how it is kept nor for how long.
import type { Endpoint } from '../catalog/index.ts';
import type { GenerationRecord } from '../accounts/ledger/index.ts';
import type { Sender } from '../upstream/client.ts';
import type { ApiCall, Client } from './call.ts';

export interface PayloadRecorders {
  /** Notes what is said for this call from now on; null: nothing of it will be kept. Never throws. */
  open(call: ApiCall): PayloadRecorder | null;
}

/** Recorder of one request. None of its members throws, and none waits for anything. */
export interface PayloadRecorder {
  /** The call's client; what it is told is noted. */
  readonly client: Client;
  /** Whether anything will be kept. @param failed true where the request or a try of it failed */
  keeps(failed: boolean): boolean;
  /** @param ordinal of the attempt */
  attempt(ordinal: number, endpoint: Endpoint): AttemptRecorder;
  /** The request is on record under this id. */
  settled(generation: Pick<GenerationRecord, 'id' | 'createdAt'>, failed: boolean): void;
  /** Nothing more will be said. */
  close(): void;
}

export interface AttemptRecorder {
  /** The same sender; what goes out through it and what comes back is noted. */
  over(sender: Pick<Sender, 'send' | 'now' | 'wall'>): Pick<Sender, 'send' | 'now' | 'wall'>;
}
