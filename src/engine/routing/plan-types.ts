// Input and output of a plan.
import type {
  CanonicalRequest,
  Report,
  RouteTrace,
  RoutingWishes,
  TaskFacts,
} from '../../canonical/index.ts';
import type { Catalog, Endpoint, Model } from '../../catalog/index.ts';
import type { RoutingSettings } from './settings.ts';
import type { RoutingState } from './state.ts';
import type { UnixMs } from '../../base/units.ts';

export interface PlanContext {
  readonly catalog: Catalog;
  readonly settings: RoutingSettings;
  /** Defaults of the request's key. Null: none. */
  readonly keyWishes: RoutingWishes | null;
  /** Tenant; keeps conversations of different projects separate. */
  readonly projectId: string;
  readonly mayUse: (modelId: string) => boolean;
  readonly state: RoutingState;
  readonly nowMs: UnixMs;
  /** Names of the request's parameters that an endpoint does not support. */
  readonly lacking: (request: CanonicalRequest, endpoint: Endpoint) => readonly string[];
  /** Why an endpoint has no capacity now, by its provider's limits. Null: it has. Absent: there are no limits. */
  readonly full?: ((endpoint: Endpoint) => string | null) | undefined;
  /** Properties of the tasks other than text. Absent: none. */
  readonly tasks?: readonly TaskFacts[] | undefined;
  /** Characters of the prompt. */
  readonly inputChars: number;
  /** Receives reports of preferences that name unknown providers. */
  readonly report: Report;
  /** True: only explains, without changing the state. */
  readonly peek: boolean;
}

export interface Candidate {
  readonly endpoint: Endpoint;
  /** Score by the strategy's measure among the candidates of the model, from 0 to 1. Null: unknown. */
  readonly score: number | null;
  /** Reason for its position. */
  readonly reason: string;
  /** True: it failed recently or asked for a pause, and is only used as a last resort. */
  readonly unavailable: boolean;
}

export interface Exclusion {
  readonly modelId: string;
  /** Slug. Null: the whole model is excluded. */
  readonly endpoint: string | null;
  readonly reason: string;
}

export interface Plan {
  /** In order of trying; never empty. */
  readonly candidates: readonly Candidate[];
  readonly excluded: readonly Exclusion[];
  /** False: the first failure is final (`provider.fallback: "false"`). */
  readonly failover: boolean;
  readonly wishes: RoutingWishes;
  /** Identity of the conversation for its cached prefix. Null: the prompt is too short for a cache. */
  readonly conversation: string | null;
  /** Data stored with the generation; `/route/explain` returns it as a table. */
  readonly trace: () => RouteTrace;
}

/** A model that may serve a request. */
export interface ModelChoice {
  readonly model: Model;
  /** Reason for this model, as text. */
  readonly reason: string;
  /** From 0 to 1. Null: the models were not scored. */
  readonly score: number | null;
}
