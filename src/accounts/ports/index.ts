// Ports of the database for the rest of Dragoman. `src/storage` implements them; only the command line chooses an
// implementation.
import type { JsonObject } from '../../base/json/index.ts';
import type { KeyRole, RoutingDefaults } from '../../canonical/index.ts';
import type { LimitEntry } from '../limits/index.ts';
import type { AlertStore } from './alert.ts';
import type { AuditEntry, AuditOf, AuditStore } from './audit.ts';
import type { BatchStore } from './batches.ts';
import type { BlobStore, FileStore, UploadStore } from './files.ts';
import type { FindingStore } from './finding.ts';
import type { JobStore } from './jobs.ts';
import type { LedgerStore } from './ledger.ts';
import type { ManagementAnswerStore } from './management-answer.ts';
import type { NoticeStore } from './notice.ts';
import type { PayloadStore } from './payload.ts';
import type { PromptStore } from './prompt.ts';
import type { ReplicaStore } from './replica.ts';
import type { InterruptedTryStore, RunningStore, SentMarkStore } from './running.ts';
import type { UsageStore } from './usage.ts';
import type { WebhookStore } from './webhook.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

export type * from './alert.ts';
export * from './announcement.ts';
export type * from './audit.ts';
export * from './batches.ts';
export type * from './files.ts';
export type * from './finding.ts';
export * from './jobs.ts';
export * from './ledger.ts';
export type * from './management-answer.ts';
export * from './notice.ts';
export * from './payload.ts';
export type * from './prompt.ts';
export type * from './replica.ts';
export * from './running.ts';
export * from './usage.ts';
export type * from './webhook.ts';

export interface StoredKey {
  readonly id: string;
  readonly name: string;
  /** HMAC-SHA-256 of the key under the server's pepper, in hex. */
  readonly hash: string;
  /** First and last characters, to recognise the key. */
  readonly hint: string;
  readonly createdAt: UnixMs;
  readonly expiresAt: UnixMs | null;
  readonly revokedAt: UnixMs | null;
  /** Ids and patterns with `*` of allowed models; null: all. */
  readonly models: readonly string[] | null;
  /** True: prompts and answers are stored in records. Null: the default of the configuration. */
  readonly logContent: boolean | null;
  /** True: requests with losses are refused. Null: the default of the configuration. */
  readonly strict: boolean | null;
  /**
   * Handling of answers whose client disconnects, as `streams.on_disconnect`; null: the default of the configuration.
   */
  readonly onDisconnect: string | null;
  /** Routing preferences for requests without any. Null: those of the gateway. */
  readonly routing: RoutingDefaults | null;
  /** Name of its project; null: the key is its own project. */
  readonly projectId: string | null;
  readonly roles: readonly KeyRole[];
  /** In the format of the configuration, validated. */
  readonly limits: readonly LimitEntry[];
  readonly budgets: readonly LimitEntry[];
  /** Hash of the secret before the last rotation, and its expiry; null: none. */
  readonly previous: { readonly hash: string; readonly until: UnixMs } | null;
  readonly updatedAt: UnixMs;
  /** Increases by one with each change. */
  readonly version: number;
}

/** A partial change. Absent members stay unchanged. */
type Change<Of> = { readonly [Member in keyof Of]?: Of[Member] | undefined };

export type KeyChange = Change<Omit<StoredKey, 'id' | 'projectId' | 'createdAt' | 'updatedAt' | 'version'>>;

/** Time of a change, and the version it applies to. */
export interface ChangeOf {
  readonly atMs: UnixMs;
  /** Absent: any version. */
  readonly ifVersion?: number | undefined;
}

/** Filter of a list of keys. Absent members match all. */
export interface KeyFilter {
  /** Keys of one project. */
  readonly projectId?: string | undefined;
  readonly isRevoked?: boolean | undefined;
  readonly name?: string | undefined;
  /** Text in their names or ids, ignoring case. */
  readonly search?: string | undefined;
  /** Keys with one of these ids. */
  readonly ids?: readonly string[] | undefined;
}

export interface KeyPage {
  readonly keys: readonly StoredKey[];
  readonly hasMore: boolean;
}

/** Keys are never deleted, because records refer to them. */
export interface KeyStore {
  /**
   * Inserts a key and its audit entry in one transaction.
   * @param mayBe decides from all keys of the same name, which are locked until the insert; absent: always allowed
   * @returns false if `mayBe` refused; nothing was written
   */
  insert(
    key: StoredKey,
    audit: AuditEntry,
    mayBe?: (sameName: readonly StoredKey[]) => boolean,
  ): Promise<boolean>;
  find(id: string): Promise<StoredKey | null>;
  /** All keys with a name, including revoked ones, in order of creation. */
  named(name: string): Promise<readonly StoredKey[]>;
  /** Keys in order of creation. @throws GatewayError `invalid_request` for an unknown `after` */
  list(page: PageRequest & KeyFilter): Promise<KeyPage>;
  /**
   * Changes a key and adds the audit entry in one transaction.
   * @returns the changed key; null if it does not exist
   * @throws GatewayError `conflict` for another version
   */
  update(id: string, change: KeyChange, of: ChangeOf, auditOf: AuditOf<StoredKey>): Promise<StoredKey | null>;
  /** All keys in batches and in no particular order. */
  all(): AsyncIterable<readonly StoredKey[]>;
  /** Version that increases with each change of a key by any process. Cheap enough to read every second. */
  mark(): Promise<number>;
  /** Keys changed since a version. */
  changedSince(mark: number): Promise<readonly StoredKey[]>;
}

/** A project that is not defined in the configuration file. */
export interface StoredProject {
  /** Name of the project. */
  readonly id: string;
  /** Unix milliseconds, like all times here. */
  readonly createdAt: UnixMs;
  readonly updatedAt: UnixMs;
  /** Time since which its keys are refused; null: active. */
  readonly archivedAt: UnixMs | null;
  /** In the format of the configuration, validated. */
  readonly limits: readonly LimitEntry[];
  readonly budgets: readonly LimitEntry[];
  /** Increases by one with each change. */
  readonly version: number;
}

export type ProjectChange = Change<Pick<StoredProject, 'archivedAt' | 'limits' | 'budgets'>>;

export interface ProjectPageRequest extends PageRequest {
  readonly isArchived?: boolean | undefined;
  /** Text in their names, ignoring case. */
  readonly search?: string | undefined;
}

/** Projects are never deleted, because stored data refers to them. A name is never reused. */
export interface ProjectStore {
  /** @returns false if the name was used before; nothing was written */
  insert(project: StoredProject, audit: AuditEntry): Promise<boolean>;
  find(id: string): Promise<StoredProject | null>;
  /** Projects in order of creation. @throws GatewayError `invalid_request` for an unknown `after` */
  list(page: ProjectPageRequest): Promise<{ projects: readonly StoredProject[]; hasMore: boolean }>;
  /** As `KeyStore.update`. */
  update(
    id: string,
    change: ProjectChange,
    of: ChangeOf,
    auditOf: AuditOf<StoredProject>,
  ): Promise<StoredProject | null>;
  /** As `KeyStore.mark`. */
  mark(): Promise<number>;
  /** Projects changed since a version; 0: all. */
  changedSince(mark: number): Promise<readonly StoredProject[]>;
}

export interface SealedTurn {
  readonly projectId: string;
  /** Id of a tool call in the turn. */
  readonly callId: string;
  /** Encrypted with the server's key. */
  readonly sealed: Uint8Array;
  readonly expiresAt: UnixMs;
}

export interface VaultStore {
  put(turns: readonly SealedTurn[]): Promise<void>;
  /** Turns of a project by tool call id, without expired ones. */
  get(projectId: string, callIds: readonly string[], nowMs: UnixMs): Promise<ReadonlyMap<string, Uint8Array>>;
  /** At most `limit` turns of a project that have not expired, latest expiry first. */
  list(projectId: string, nowMs: UnixMs, limit: number): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Deletes a bounded number of expired turns. @returns how many */
  purge(nowMs: UnixMs): Promise<number>;
}

// State of projects: responses, conversations, prompts and files. Ids are created by the gateway and are unique
// across keys, and repeated writes have no effect. Data of other projects is not found. All state of a project counts
// towards one quota. Its responses are evicted for new data, earliest expiry first, then oldest. Writes are refused
// (GatewayError `quota`) only if its conversations, prompts and files alone exceed the quota.

export interface StoredResponse {
  readonly id: string;
  readonly projectId: string;
  /** Unix milliseconds, like all times here. */
  readonly createdAt: UnixMs;
  readonly expiresAt: UnixMs | null;
  /** Response that this one continues; null: none. */
  readonly previousId: string | null;
  readonly conversationId: string | null;
  /** Response object with all members that `include` can request, including output items. */
  readonly response: JsonObject;
  /** Input items of this turn only, unparsed, each with an id. */
  readonly input: readonly JsonObject[];
}

/** Origin of a response. */
export interface ResponseOrigin {
  /** Conversation to which input and output are appended, unless it was deleted in the meantime. Absent: none. */
  readonly appendTo?: string | undefined;
  /** True: a job made it. */
  readonly isByJob?: boolean;
}

export interface ResponseStore {
  /**
   * Stores a response atomically; durable when it resolves. If the database is unreachable, it is written once it is
   * back. A response whose job was deleted is not stored.
   * @returns the JSON text of `response.response`, so that the caller need not serialize it again
   * @throws GatewayError `quota` if evicting all other responses would not free enough; nothing is written
   */
  put(response: StoredResponse, origin?: ResponseOrigin): Promise<string>;
  find(projectId: string, id: string, nowMs: UnixMs): Promise<StoredResponse | null>;
  /** The response and all before it, oldest first; null if any of them is missing, expired or of another project. */
  chain(projectId: string, id: string, nowMs: UnixMs): Promise<readonly StoredResponse[] | null>;
  /**
   * Finds an input or output item in the project's conversations and responses. The latest one if several have the
   * id.
   */
  findItem(projectId: string, itemId: string, nowMs: UnixMs): Promise<JsonObject | null>;
  /** @returns false if there is no such response */
  delete(projectId: string, id: string): Promise<boolean>;
  /** Deletes expired responses for about a millisecond. @returns how many; 0: none are left */
  purge(nowMs: UnixMs): Promise<number>;
}

export interface StoredConversation {
  readonly id: string;
  readonly projectId: string;
  readonly createdAt: UnixMs;
  readonly expiresAt: UnixMs | null;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface ItemPage {
  readonly items: readonly JsonObject[];
  readonly hasMore: boolean;
}

/** A page of a list: at most `limit` entries after the entry with the id `after`, in this order. */
export interface PageRequest {
  readonly after?: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

/**
 * Items keep their order of arrival. Ids are unique within a conversation, and appending an item again has no effect.
 * Methods without `nowMs` do not check the expiry, so callers use `find` first.
 */
export interface ConversationStore {
  /** @throws GatewayError `quota` */
  create(conversation: StoredConversation, items: readonly JsonObject[]): Promise<void>;
  find(projectId: string, id: string, nowMs: UnixMs): Promise<StoredConversation | null>;
  /** @returns the changed conversation; null if there is none. @throws GatewayError `quota` */
  setMetadata(
    projectId: string,
    id: string,
    metadata: Readonly<Record<string, string>>,
  ): Promise<StoredConversation | null>;
  /** Deletes a conversation. Most items of a long one are removed by later purges. @returns false if there is none */
  delete(projectId: string, id: string): Promise<boolean>;
  /** Appends all items or none. @returns false if there is no such conversation. @throws GatewayError `quota` */
  append(projectId: string, id: string, items: readonly JsonObject[]): Promise<boolean>;
  /**
   * Appends the items of a turn whose answer was already sent, each with an id. If the database is unreachable, they
   * are written once it is back. Does nothing if the conversation was deleted in the meantime.
   * @throws GatewayError `quota`
   */
  appendTurn(projectId: string, id: string, items: readonly JsonObject[]): Promise<void>;
  /**
   * @returns null if there is no such conversation. @throws GatewayError `invalid_request` (`after`) for an unknown
   * item
   */
  items(projectId: string, id: string, page: PageRequest): Promise<ItemPage | null>;
  /** All items in order, for the prompt; null if there is no such conversation. */
  all(projectId: string, id: string, nowMs: UnixMs): Promise<readonly JsonObject[] | null>;
  findItem(projectId: string, id: string, itemId: string): Promise<JsonObject | null>;
  deleteItem(projectId: string, id: string, itemId: string): Promise<boolean>;
  /**
   * Locks a conversation for a turn, across all processes. The lock lasts `forMs` milliseconds, by the database's
   * clock if it has one. The turn that holds it can extend it.
   * @returns false if another turn holds the lock, or there is no such conversation
   */
  beginTurn(
    projectId: string,
    id: string,
    turnId: string,
    nowMs: UnixMs,
    forMs: DurationMs,
  ): Promise<boolean>;
  /** Releases the lock. Does nothing if the turn no longer holds it. */
  endTurn(projectId: string, id: string, turnId: string): Promise<void>;
  /** Deletes a bounded number of rows of expired and deleted conversations. @returns how many; 0: none are left */
  purge(nowMs: UnixMs): Promise<number>;
}

export interface StateUsage {
  /** Size of a project's responses, conversations, prompts and files: their texts, plus a constant per row. */
  bytes(projectId: string): Promise<number>;
}

export interface Storage {
  readonly audit: AuditStore;
  readonly ledger: LedgerStore;
  readonly usage: UsageStore;
  readonly keys: KeyStore;
  readonly projects: ProjectStore;
  readonly vault: VaultStore;
  readonly responses: ResponseStore;
  readonly conversations: ConversationStore;
  readonly prompts: PromptStore;
  readonly files: FileStore;
  readonly uploads: UploadStore;
  /** Jobs: work that outlives connections. */
  readonly jobs: JobStore;
  /** Batches: many requests in one file. */
  readonly batches: BatchStore;
  /** Tries of jobs on killed replicas. Null: the database has one data directory. */
  readonly interruptedTries: InterruptedTryStore | null;
  readonly alerts: AlertStore;
  readonly webhooks: WebhookStore;
  /** Responses of the management API by idempotency key. */
  readonly managementAnswers: ManagementAnswerStore;
  readonly payloads: PayloadStore;
  readonly stateUsage: StateUsage;
  /** Blobs in the database; null: the database is local, and blobs are files in a folder. */
  readonly blobs: BlobStore | null;
  /** Probe results of endpoints. Null: they are in a file in the data directory. */
  readonly findings: FindingStore | null;
  /** Pub/sub between processes on several machines. Null: the database is local. */
  readonly notices: NoticeStore | null;
  /** Processes that share the database; null: the database is local. */
  readonly replicas: ReplicaStore | null;
  readonly running: RunningStore;
  /** Marks of requests that were sent to an upstream. */
  readonly marks: SentMarkStore;
  /** A named secret of this installation (pepper, vault key): 32 bytes. Used for all new hashes and encryption. */
  secret(name: string): Promise<Uint8Array>;
  /** Earlier secrets, latest first. Data hashed or encrypted with them remains valid. */
  earlierSecrets(name: string): Promise<readonly Uint8Array[]>;
  close(): Promise<void>;
}
