// Port of the audit log in a database. A part of `ports/index.ts`.
import type { JsonObject } from '../../base/json/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** One change that somebody made, without secrets. */
export interface AuditEntry {
  readonly id: string;
  readonly createdAt: UnixMs;
  readonly actor: {
    /** Id of the key; `operator` for a command of the machine itself. */
    readonly id: string;
    readonly name: string;
    /** Address that the request came from. Null: a command, or unknown. */
    readonly address: string | null;
  };
  /** Kind of thing and action, e.g. `key.create`. */
  readonly action: string;
  /** Id of the thing. */
  readonly target: string;
  /** Null for a command. */
  readonly requestId: string | null;
  /** The thing as it was; null where there was nothing. */
  readonly before: JsonObject | null;
  /** The thing as it is; null where there is nothing any more. */
  readonly after: JsonObject | null;
}

/** Entry of a change: made of the thing as it was and as it is. */
export type AuditOf<Thing> = (before: Thing, after: Thing) => AuditEntry;

/** At most `limit` entries, newest first: those that follow `after`, or come before `before`. */
export interface AuditQuery {
  readonly limit: number;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  /** Unix milliseconds; the first inclusive, the second not. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly hasMore: boolean;
}

export interface AuditStore {
  /** Durable when it resolves. */
  append(entry: AuditEntry): Promise<void>;
  /** @throws GatewayError `invalid_request` (`after`, `before`) for an unknown entry */
  list(query: AuditQuery): Promise<AuditPage>;
  /** Deletes older entries, a bounded number. Returns how many; 0 when none is left. */
  purge(beforeMs: UnixMs): Promise<number>;
}
