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
import type { RunningStore, SentMarkStore } from './running.ts';
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
  /** HMAC-SHA-256 of the whole key under the server's pepper, hex. */
  readonly hash: string;
  /** First and last characters, to recognise it by. */
  readonly hint: string;
  readonly createdAt: UnixMs;
  readonly expiresAt: UnixMs | null;
  readonly revokedAt: UnixMs | null;
  /** Model ids or patterns with `*` that this key may use; null means all. */
  readonly models: readonly string[] | null;
  /** Whether prompts and answers of this key are kept in the records; null: as the configuration says. */
  readonly logContent: boolean | null;
  /** Whether a request of which something would be lost is refused; null: as for everybody. */
  readonly strict: boolean | null;
  /** Fate of its answers whose client leaves, as `streams.on_disconnect`; null: as the configuration says. */
  readonly onDisconnect: string | null;
  /** Routing wishes of requests that name none. Null: the gateway's. */
  readonly routing: RoutingDefaults | null;
  /** Name of its project; null: it is a project of its own. */
  readonly projectId: string | null;
  readonly roles: readonly KeyRole[];
  /** In the words of the configuration, and checked. */
  readonly limits: readonly LimitEntry[];
  readonly budgets: readonly LimitEntry[];
  /** Hash of the secret before the last rotation, and until when it is good; null where there is none. */
  readonly previous: { readonly hash: string; readonly until: UnixMs } | null;
  readonly updatedAt: UnixMs;
  /** Grows by one with each change. */
  readonly version: number;
}

/** Some members of a thing; those that are absent stay as they are. */
type Change<Of> = { readonly [Member in keyof Of]?: Of[Member] | undefined };

export type KeyChange = Change<Omit<StoredKey, 'id' | 'projectId' | 'createdAt' | 'updatedAt' | 'version'>>;

/** When something is changed, and which version of it is meant. */
export interface ChangeOf {
  readonly atMs: UnixMs;
  /** Absent: whichever there is. */
  readonly ifVersion?: number | undefined;
}

/** Filter of a list of keys; an absent member is no condition. */
export interface KeyFilter {
  /** Keys of one project. */
  readonly projectId?: string | undefined;
  readonly isRevoked?: boolean | undefined;
  readonly name?: string | undefined;
  /** Text in their names or ids, in small letters or capitals. */
  readonly search?: string | undefined;
  /** Only those of them that there are. */
  readonly ids?: readonly string[] | undefined;
}

export interface KeyPage {
  readonly keys: readonly StoredKey[];
  readonly hasMore: boolean;
}

/** Keys are never deleted: records keep their owners. */
export interface KeyStore {
  /**
   * @param audit is in the log when the key is there, and not before
   * @param mayBe asked of all that have its name, which stay as they are until it is there; absent: they do not matter
   * @returns false where it may not be: nothing was written
   */
  insert(
    key: StoredKey,
    audit: AuditEntry,
    mayBe?: (namesakes: readonly StoredKey[]) => boolean,
  ): Promise<boolean>;
  find(id: string): Promise<StoredKey | null>;
  /** All that have a name, revoked ones included, in the order of their making. */
  named(name: string): Promise<readonly StoredKey[]>;
  /** Keys in the order of their making. @throws GatewayError `invalid_request` for an unknown `after` */
  list(page: PageRequest & KeyFilter): Promise<KeyPage>;
  /**
   * The key as it is now; null when there is none. The log has the change, too, whatever happens.
   * @throws GatewayError `conflict` where it has another version
   */
  update(id: string, change: KeyChange, of: ChangeOf, auditOf: AuditOf<StoredKey>): Promise<StoredKey | null>;
  /** Every key, some at a time and in no order. */
  all(): AsyncIterable<readonly StoredKey[]>;
  /** Grows with every change of any key, also by another process. Cheap enough to ask every second. */
  mark(): Promise<number>;
  /** The keys that have changed since a mark. */
  changedSince(mark: number): Promise<readonly StoredKey[]>;
}

/** A project that no configuration file defines. */
export interface StoredProject {
  /** Its name. */
  readonly id: string;
  /** Unix milliseconds, as are all times here. */
  readonly createdAt: UnixMs;
  readonly updatedAt: UnixMs;
  /** Time since which its keys are refused; null while it is in use. */
  readonly archivedAt: UnixMs | null;
  /** In the words of the configuration, and checked. */
  readonly limits: readonly LimitEntry[];
  readonly budgets: readonly LimitEntry[];
  /** Grows by one with each change. */
  readonly version: number;
}

export type ProjectChange = Change<Pick<StoredProject, 'archivedAt' | 'limits' | 'budgets'>>;

export interface ProjectPageRequest extends PageRequest {
  readonly isArchived?: boolean | undefined;
  /** Text in their names, in small letters or capitals. */
  readonly search?: string | undefined;
}

/** Projects are never deleted: what belongs to one keeps its owner, and a name is given once. */
export interface ProjectStore {
  /** False when the name was given before; then the log has nothing. */
  insert(project: StoredProject, audit: AuditEntry): Promise<boolean>;
  find(id: string): Promise<StoredProject | null>;
  /** Projects in the order of their making. @throws GatewayError `invalid_request` for an unknown `after` */
  list(page: ProjectPageRequest): Promise<{ projects: readonly StoredProject[]; hasMore: boolean }>;
  /** As of keys. */
  update(
    id: string,
    change: ProjectChange,
    of: ChangeOf,
    auditOf: AuditOf<StoredProject>,
  ): Promise<StoredProject | null>;
  /** As of keys. */
  mark(): Promise<number>;
  /** The projects that have changed since a mark; all since 0. */
  changedSince(mark: number): Promise<readonly StoredProject[]>;
}

export interface SealedTurn {
  readonly projectId: string;
  /** Id of a tool call of the turn. */
  readonly callId: string;
  /** Encrypted with the server's key. */
  readonly sealed: Uint8Array;
  readonly expiresAt: UnixMs;
}

export interface VaultStore {
  put(turns: readonly SealedTurn[]): Promise<void>;
  /** The turns of one project by tool-call id; expired ones are not returned. */
  get(projectId: string, callIds: readonly string[], nowMs: UnixMs): Promise<ReadonlyMap<string, Uint8Array>>;
  /** All of one project that have not expired, at most `limit`, those first that expire last. */
  list(projectId: string, nowMs: UnixMs, limit: number): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Deletes expired turns, a bounded number at a time. Returns how many. */
  purge(nowMs: UnixMs): Promise<number>;
}

// Stored responses, conversations, prompts and files. Ids are made by the gateway and unique over all keys; writing one
// again changes nothing. Whatever belongs to another key is not found. What a project stores is counted together: its
// responses give way to what is new, first those that expire first (the oldest, where all live equally long), and
// only when its conversations, prompts and files alone leave no room is something refused (GatewayError `quota`).

export interface StoredResponse {
  readonly id: string;
  readonly projectId: string;
  /** Unix milliseconds, as are all times here. */
  readonly createdAt: UnixMs;
  readonly expiresAt: UnixMs | null;
  /** The response that this one continues; null at the beginning. */
  readonly previousId: string | null;
  readonly conversationId: string | null;
  /** The Response object with every member that `include` can ask for, output items inside. */
  readonly response: JsonObject;
  /** The input items of this turn alone, raw, each with an id. */
  readonly input: readonly JsonObject[];
}

export interface ResponseStore {
  /**
   * Durable when it resolves, all or nothing of it; a database that is away gets it when it is back. With `appendTo`, input and output are appended to that conversation
   * of the key as well; one that was deleted meanwhile takes nothing.
   * @returns the JSON text of `response.response`: whoever tells it need not make it again
   * @throws GatewayError `quota` when there is no room even without any other response; nothing is written then
   */
  put(response: StoredResponse, appendTo?: string): Promise<string>;
  find(projectId: string, id: string, nowMs: UnixMs): Promise<StoredResponse | null>;
  /** The response and all before it, oldest first; null when any of them is missing, expired or another project's. */
  chain(projectId: string, id: string, nowMs: UnixMs): Promise<readonly StoredResponse[] | null>;
  /** An input or output item of a stored conversation or response of this project: of several under one id, the latest. */
  findItem(projectId: string, itemId: string, nowMs: UnixMs): Promise<JsonObject | null>;
  /** False when there is no such response. */
  delete(projectId: string, id: string): Promise<boolean>;
  /** Deletes expired responses, as many as about a millisecond allows. Returns how many; 0 when none is left. */
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

/** Part of a list: at most `limit` entries that follow the one called `after` in this order. */
export interface PageRequest {
  readonly after?: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

/**
 * Items keep the order in which they came. An id names one item of a conversation: appending it again changes
 * nothing. Methods without `nowMs` do not look at the expiry; `find` comes before them.
 */
export interface ConversationStore {
  /** @throws GatewayError `quota` */
  create(conversation: StoredConversation, items: readonly JsonObject[]): Promise<void>;
  find(projectId: string, id: string, nowMs: UnixMs): Promise<StoredConversation | null>;
  /** The conversation as it is now; null when there is none. @throws GatewayError `quota` */
  setMetadata(
    projectId: string,
    id: string,
    metadata: Readonly<Record<string, string>>,
  ): Promise<StoredConversation | null>;
  /** False when there is no such conversation. Of a long one, most items are removed by later purges. */
  delete(projectId: string, id: string): Promise<boolean>;
  /** All or none of them; false when there is no such conversation. @throws GatewayError `quota` */
  append(projectId: string, id: string, items: readonly JsonObject[]): Promise<boolean>;
  /**
   * `append` of a turn that its client has heard, each item with an id: a database that is away gets it when it is back. A
   * conversation that was deleted meanwhile takes nothing. @throws GatewayError `quota`
   */
  appendTurn(projectId: string, id: string, items: readonly JsonObject[]): Promise<void>;
  /** Null when there is no such conversation. @throws GatewayError `invalid_request` (`after`) for an unknown item */
  items(projectId: string, id: string, page: PageRequest): Promise<ItemPage | null>;
  /** Every item in order, for the prompt; null when there is no such conversation. */
  all(projectId: string, id: string, nowMs: UnixMs): Promise<readonly JsonObject[] | null>;
  findItem(projectId: string, id: string, itemId: string): Promise<JsonObject | null>;
  deleteItem(projectId: string, id: string, itemId: string): Promise<boolean>;
  /**
   * Takes the one place for a turn, for `forMs` milliseconds by the clock of the database where it has one; false while another
   * turn holds it, and when there is no such conversation. The turn that holds it may ask again, to hold it for longer. Holds
   * across processes.
   */
  beginTurn(
    projectId: string,
    id: string,
    turnId: string,
    nowMs: UnixMs,
    forMs: DurationMs,
  ): Promise<boolean>;
  /** Gives the place back; nothing happens when this turn does not hold it any more. */
  endTurn(projectId: string, id: string, turnId: string): Promise<void>;
  /** Deletes rows of expired and deleted conversations, a bounded number. Returns how many; 0 when none is left. */
  purge(nowMs: UnixMs): Promise<number>;
}

export interface StateUsage {
  /** Size of the responses, conversations, prompts and files of a project: their texts and a little for each row. */
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
  /** Work that outlives connections. */
  readonly jobs: JobStore;
  /** Many requests in one file. */
  readonly batches: BatchStore;
  readonly alerts: AlertStore;
  readonly webhooks: WebhookStore;
  /** Answers of the management API under idempotency keys. */
  readonly managementAnswers: ManagementAnswerStore;
  readonly payloads: PayloadStore;
  readonly stateUsage: StateUsage;
  /** The bytes of files in the database itself; null where it is of one machine, whose folder has them. */
  readonly blobs: BlobStore | null;
  /** Findings about endpoints. Null: a file of the data directory holds them. */
  readonly findings: FindingStore | null;
  /** Messages between processes of several machines. Null: the database is of one machine. */
  readonly notices: NoticeStore | null;
  /** Processes that share the database; null where it is of one machine. */
  readonly replicas: ReplicaStore | null;
  readonly running: RunningStore;
  /** Which requests went out. */
  readonly marks: SentMarkStore;
  /** A named secret of this installation (pepper, vault key): 32 bytes. What is new is hashed and sealed with it. */
  secret(name: string): Promise<Uint8Array>;
  /** Earlier secrets, the latest first: data that was hashed and sealed with one of these is still good. */
  earlierSecrets(name: string): Promise<readonly Uint8Array[]>;
  close(): Promise<void>;
}
