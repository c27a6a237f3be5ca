// Events that processes of one installation publish to each other, and what gives and takes them in each process.
import type { JsonObject } from '../../../base/json/index.ts';

export type CarriedEvent =
  /** A request has ended. The summary is made only when it is asked for. */
  | { readonly type: 'generation'; readonly summary: () => JsonObject }
  | {
      readonly type: 'alert';
      readonly alert: { readonly type: string; readonly message: string; readonly data: JsonObject };
    };

/** A number of events of other processes that were not published. */
export interface LostEvents {
  readonly type: 'lost';
  readonly events: number;
}

/** Source of events of this process, and sink for those of others. */
export interface EventSource {
  /** Whether somebody listens in this process. */
  readonly hasAudience: boolean;
  whenAudience(changed: (isThere: boolean) => void): void;
  /** @param listener gets every event of this process; null: nobody does */
  carry(listener: ((event: CarriedEvent) => void) | null): void;
  bring(event: CarriedEvent | LostEvents): void;
}
