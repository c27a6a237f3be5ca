// Input and output of a plan. Routing only decides: the engine tries the candidates.
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
  /** Defaults of the key that asks; null when it has none. */
  readonly keyWishes: RoutingWishes | null;
  /** Tenant: conversations of two keys are never the same. */
  readonly projectId: string;
  readonly mayUse: (modelId: string) => boolean;
  readonly state: RoutingState;
  readonly nowMs: UnixMs;
  /** Names of the request's parameters that an endpoint does not take. */
  readonly lacking: (request: CanonicalRequest, endpoint: Endpoint) => readonly string[];
  /** Why an endpoint has no room just now, by limits that others do not know of; null where it has. Absent: it always has. */
  readonly full?: ((endpoint: Endpoint) => string | null) | undefined;
  /** Facts of the tasks besides text. Absent: of none. */
  readonly tasks?: readonly TaskFacts[] | undefined;
  /** Characters of the prompt. */
  readonly inputChars: number;
  /** Wishes that name nobody are reported here. */
  readonly report: Report;
  /** True: only to explain. Leaves no trace in the state. */
  readonly peek: boolean;
}

export interface Candidate {
  readonly endpoint: Endpoint;
  /** From 0 to 1 among the candidates of its model, by the strategy's own measure; null when it is not known. */
  readonly score: number | null;
  /** Why it stands where it stands. */
  readonly reason: string;
  /** True: it failed lately, or asked to be left alone. The last resort. */
  readonly unavailable: boolean;
}

export interface Exclusion {
  readonly modelId: string;
  /** Slug; null when the whole model is out. */
  readonly endpoint: string | null;
  readonly reason: string;
}

export interface Plan {
  /** In the order of trying; never empty. */
  readonly candidates: readonly Candidate[];
  readonly excluded: readonly Exclusion[];
  /** False: the first failure is final (`provider.fallback: "false"`). */
  readonly failover: boolean;
  readonly wishes: RoutingWishes;
  /** Identity of the conversation whose cached prefix matters; null when the prompt is too short for a cache. */
  readonly conversation: string | null;
  /** Data that is kept with the generation; `/route/explain` returns it as a table. */
  readonly trace: () => RouteTrace;
}

/** A model that may serve a request. */
export interface ModelChoice {
  readonly model: Model;
  /** Why this model, in words. */
  readonly reason: string;
  /** From 0 to 1; null where models were not weighed against each other. */
  readonly score: number | null;
}
