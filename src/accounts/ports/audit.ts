// Port of the audit log.
import type { JsonObject } from '../../base/json/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** One change, without secrets. */
export interface AuditEntry {
  readonly id: string;
  readonly createdAt: UnixMs;
  readonly actor: {
    /** Id of the key; `operator` for a command on the gateway's machine. */
    readonly id: string;
    readonly name: string;
    /** Address of the client. Null: a command, or unknown. */
    readonly address: string | null;
  };
  /** Kind of object and action, e.g. `key.create`. */
  readonly action: string;
  /** Id of the object. */
  readonly target: string;
  /** Null: a command. */
  readonly requestId: string | null;
  /** The object before the change; null: created. */
  readonly before: JsonObject | null;
  /** The object after the change; null: deleted. */
  readonly after: JsonObject | null;
}

/** Creates the entry of a change from the object before and after it. */
export type AuditOf<Thing> = (before: Thing, after: Thing) => AuditEntry;

/** At most `limit` entries, newest first: those that follow `after`, or come before `before`. */
export interface AuditQuery {
  readonly limit: number;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  /** Unix milliseconds; `from` is inclusive, `to` exclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly hasMore: boolean;
}

export interface AuditStore {
  /** Appends an entry, which is durable when it resolves. */
  append(entry: AuditEntry): Promise<void>;
  /** @throws GatewayError `invalid_request` (`after`, `before`) for an unknown entry */
  list(query: AuditQuery): Promise<AuditPage>;
  /** Deletes a bounded number of older entries. @returns how many; 0: none are left */
  purge(beforeMs: UnixMs): Promise<number>;
}
