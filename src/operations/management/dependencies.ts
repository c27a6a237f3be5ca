// Dependencies of the management API.
import type { AdminSignIn, Principal, Tenants } from '../../accounts/auth/index.ts';
import type { UnixMs } from '../../base/units.ts';
import type { JsonObject } from '../../base/json/index.ts';
import type { RoutingDefaults } from '../../canonical/index.ts';
import type { Catalog } from '../../catalog/index.ts';
import type { Diagnosis } from '../doctor/index.ts';
import type { EventHub } from '../events/index.ts';
import type { Endpoints, Webhooks } from '../webhooks/index.ts';
import type { Limits } from '../../accounts/limits/index.ts';
import type { PayloadKeeper } from '../payloads/index.ts';
import type { RoutingSettings, RoutingState } from '../../engine/routing/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { BodyReader } from '../../server/body/body-reader.ts';
import type { ReplayedAnswer, ReplayedRequest } from '../../server/replay.ts';
import type { IdempotentAnswersOptions } from './idempotent-answers.ts';
import type { ReplyDependencies } from '../../server/reply.ts';
import type {
  AlertStore,
  AuditStore,
  Batch,
  BatchStore,
  JobStore,
  JobView,
  LedgerStore,
  UsageStore,
} from '../../accounts/ports/index.ts';

/** The active configuration. */
export interface ConfigurationInForce {
  /** Path of its file; null: none. */
  readonly path: string | null;
  /** Number of accepted configurations so far, from 1. */
  readonly revision: number;
  /** The whole configuration, with secrets masked. */
  show(): JsonObject;
}

/** Problems of a configuration draft. */
export interface DraftReport {
  /** Each begins with the path of its key. */
  readonly problems: readonly string[];
  /** Paths of keys whose values come from variables or files and were not checked. */
  readonly unchecked: readonly string[];
}

/** The job queue. */
export interface JobAdministration {
  readonly store: Pick<JobStore, 'list' | 'counts' | 'get'>;
  /** Cancels a job and waits briefly for its end. */
  readonly cancel: (job: JobView) => Promise<unknown>;
  /** Queues a job again. Null: it has neither failed nor been cancelled. */
  readonly retry: (id: string) => Promise<JobView | null>;
}

/** Batches of all projects. */
export interface BatchAdministration {
  readonly store: Pick<BatchStore, 'search' | 'counts' | 'get' | 'failures'>;
  /** Requests the cancellation of a batch. */
  readonly cancel: (batch: Batch) => Promise<unknown>;
}

/** A console session. */
export interface SessionView {
  readonly id: string;
  readonly actor: { readonly id: string; readonly name: string };
  /** Null: unknown. */
  readonly address: string | null;
  /** `User-Agent`. Null: unknown. */
  readonly agent: string | null;
  readonly openedAt: UnixMs;
  readonly usedAt: UnixMs;
  readonly endsAt: UnixMs;
}

/** Console sessions of all processes. */
export interface SessionAdministration {
  /** Open sessions, last used first. */
  readonly list: () => Promise<readonly SessionView[]>;
  /** Ends a session. Null: unknown id. */
  readonly end: (id: string) => Promise<SessionView | null>;
}

/** Webhook receivers. */
export interface WebhookAdministration {
  readonly endpoints: Endpoints;
  readonly webhooks: Pick<Webhooks, 'test' | 'redeliver' | 'deliveries' | 'delivery' | 'enable'>;
  /** Checks a URL given by API. @throws GatewayError `invalid_request` */
  readonly checkAddress: (url: string) => Promise<void>;
}

/** Maximum cost of probing an endpoint. */
export interface ProbePlan {
  readonly requests: number;
  readonly tokens: number;
  /** Null: the price is unknown. */
  readonly usd: number | null;
  /** False: results are not stored, because the provider is built in. */
  readonly isKept: boolean;
}

/**
 * Probes of endpoints by the running gateway. Both functions throw GatewayError `invalid_request` for an unknown
 * endpoint.
 */
export interface Probes {
  readonly plan: (provider: string, model: string) => ProbePlan;
  /** Resolves after all probes. */
  readonly run: (provider: string, model: string) => Promise<Diagnosis>;
}

export interface ManagementDependencies extends Omit<ReplyDependencies, 'authenticate'> {
  /** Authenticates an admin. @throws GatewayError `authentication` or `permission` */
  readonly authenticateAdmin: AdminSignIn;
  readonly bodies: BodyReader;
  readonly configuration: () => ConfigurationInForce;
  /** Checks the text of a configuration file. */
  readonly checkDraft: (text: string, signal: AbortSignal) => Promise<DraftReport>;
  /** `server.timezone`. */
  readonly timeZone: () => string;
  readonly catalog: () => Catalog;
  /** Results of `dragoman doctor`, also for endpoints that no longer exist. */
  readonly findings: () => readonly Diagnosis[];
  readonly probes: Probes;
  readonly routing: RoutingState;
  /** Routing defaults for requests without their own. */
  readonly routingSettings: () => RoutingSettings;
  readonly events: EventHub;
  readonly clock: Clock;
  readonly audit: AuditStore;
  /** Published alerts. */
  readonly alerts: Pick<AlertStore, 'list'>;
  /** Store of idempotent answers, and the secrets that seal them. */
  readonly answers: Pick<IdempotentAnswersOptions, 'store' | 'secrets'>;
  readonly ledger: LedgerStore;
  readonly usage: UsageStore;
  /** Last use of a key in this process (Unix milliseconds). Null: none. */
  readonly lastUsed: (keyId: string) => number | null;
  readonly jobs: JobAdministration;
  readonly batches: BatchAdministration;
  readonly webhooks: WebhookAdministration;
  readonly sessions: SessionAdministration;
  /** Recorded payloads of each side of a request. */
  readonly payloads: Pick<PayloadKeeper, 'find'>;
  readonly limits: Limits;
  /** Sends a request again. @see replayRequest */
  readonly replay: (request: ReplayedRequest, signal: AbortSignal) => Promise<ReplayedAnswer>;
  /** Explains how a request would be routed. @throws GatewayError as the request itself would */
  readonly explain: (principal: Principal, request: JsonObject) => JsonObject;
  /** @throws GatewayError `conflict` for a key that is no longer valid */
  readonly keyById: (keyId: string) => Principal;
  readonly tenants: Omit<Tenants, 'entryOf'>;
  /**
   * Applies changes of keys and projects in this process immediately. Other processes apply them within two seconds.
   */
  readonly tenantsChanged: () => Promise<void>;
  /** @throws GatewayError `invalid_request` for routing that refers to unknown names */
  readonly checkRouting: (routing: RoutingDefaults) => void;
}
