// Dependencies of the management API, given by whoever composes the gateway.
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

/** The configuration that is in force. */
export interface ConfigurationInForce {
  /** The file it was read from; null: there is none. */
  readonly path: string | null;
  /** Counts up with every configuration that was accepted, from 1. */
  readonly revision: number;
  /** All of it, secrets masked. */
  show(): JsonObject;
}

/** Problems of a draft of the configuration. */
export interface DraftReport {
  /** Each with the path of its key in front. */
  readonly problems: readonly string[];
  /** Paths of keys whose values come from variables or files, and were not checked. */
  readonly unchecked: readonly string[];
}

/** The queue of work that outlives connections. */
export interface JobAdministration {
  readonly store: Pick<JobStore, 'list' | 'counts' | 'get'>;
  /** Ends a job, and waits for its end for a moment. */
  readonly cancel: (job: JobView) => Promise<unknown>;
  /** Queues it again. Null: it neither failed nor was cancelled. */
  readonly retry: (id: string) => Promise<JobView | null>;
}

/** Batches of all projects. */
export interface BatchAdministration {
  readonly store: Pick<BatchStore, 'search' | 'counts' | 'get' | 'failures'>;
  /** Asks for the end of a batch. */
  readonly cancel: (batch: Batch) => Promise<unknown>;
}

/** A session of the console. */
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

/** Sessions of the console, of all processes. */
export interface SessionAdministration {
  /** Sessions that have not ended, those used last first. */
  readonly list: () => Promise<readonly SessionView[]>;
  /** Ends a session. Null: there is none of this id. */
  readonly end: (id: string) => Promise<SessionView | null>;
}

/** Receivers of webhooks. */
export interface WebhookAdministration {
  readonly endpoints: Endpoints;
  readonly webhooks: Pick<Webhooks, 'test' | 'redeliver' | 'deliveries' | 'delivery' | 'enable'>;
  /** Checks an address that came by API. @throws GatewayError `invalid_request` */
  readonly checkAddress: (url: string) => Promise<void>;
}

/** Cost of probing one endpoint, at most. */
export interface ProbePlan {
  readonly requests: number;
  readonly tokens: number;
  /** Null: the price is unknown. */
  readonly usd: number | null;
  /** False: results are not kept, because the provider is built in. */
  readonly isKept: boolean;
}

/** Probes of endpoints from the running gateway. Both throw GatewayError `invalid_request` for what is not there. */
export interface Probes {
  readonly plan: (provider: string, model: string) => ProbePlan;
  /** Resolves when all is known. */
  readonly run: (provider: string, model: string) => Promise<Diagnosis>;
}

export interface ManagementDependencies extends Omit<ReplyDependencies, 'authenticate'> {
  /** Finds who manages. Throws GatewayError `authentication` or `permission`. */
  readonly authenticateAdmin: AdminSignIn;
  readonly bodies: BodyReader;
  readonly configuration: () => ConfigurationInForce;
  /**
   * Problems of the text of a configuration file, each with its path in front; none when it could be in force. Beside
   * them the paths whose values come from variables or files, which are not looked at.
   */
  readonly checkDraft: (text: string, signal: AbortSignal) => Promise<DraftReport>;
  /** `server.timezone`. */
  readonly timeZone: () => string;
  readonly catalog: () => Catalog;
  /** Results of `dragoman doctor`, of endpoints that are there or were. */
  readonly findings: () => readonly Diagnosis[];
  readonly probes: Probes;
  readonly routing: RoutingState;
  /** Defaults that hold when requests say nothing about routing. */
  readonly routingSettings: () => RoutingSettings;
  readonly events: EventHub;
  readonly clock: Clock;
  readonly audit: AuditStore;
  /** Alerts that were published. */
  readonly alerts: Pick<AlertStore, 'list'>;
  /** Store of answers under idempotency keys, and what seals them. */
  readonly answers: Pick<IdempotentAnswersOptions, 'store' | 'secrets'>;
  readonly ledger: LedgerStore;
  readonly usage: UsageStore;
  /** When a key was used last by this process (Unix milliseconds). Null: it was not. */
  readonly lastUsed: (keyId: string) => number | null;
  readonly jobs: JobAdministration;
  readonly batches: BatchAdministration;
  readonly webhooks: WebhookAdministration;
  readonly sessions: SessionAdministration;
  /** Payloads of each side of a request. */
  readonly payloads: Pick<PayloadKeeper, 'find'>;
  readonly limits: Limits;
  /** Sends a request again. @see replayRequest */
  readonly replay: (request: ReplayedRequest, signal: AbortSignal) => Promise<ReplayedAnswer>;
  /** How a request would be routed. Throws GatewayError as the request itself would. */
  readonly explain: (principal: Principal, request: JsonObject) => JsonObject;
  /** Throws GatewayError `conflict` for a key that is not good any more. */
  readonly keyById: (keyId: string) => Principal;
  readonly tenants: Omit<Tenants, 'entryOf'>;
  /** Puts changes of keys and projects in force in this process, at once; others see them within two seconds. */
  readonly tenantsChanged: () => Promise<void>;
  /** Throws GatewayError `invalid_request` for routing that names what is not there. */
  readonly checkRouting: (routing: RoutingDefaults) => void;
}
