// Decides which endpoints may answer a request, and in which order. Deciding is all it does: the engine tries them.
export { contextOf, mayHold, shownContext } from './context-length.ts';
export type { Overflow } from './context-length.ts';
export { cacheLifeMs } from './conversation.ts';
export { MemoryRoutingState } from './memory-state.ts';
export { type EndpointNews, type HoldNews, MEASURES, type Measure, type RoutingNews } from './news.ts';
export { planRequest } from './plan.ts';
export type { Candidate, Exclusion, Plan, PlanContext } from './plan-types.ts';
export type { BreakerSettings, RoutingSettings } from './settings.ts';
export type {
  AttemptLease,
  AttemptOutcome,
  EndpointHealth,
  EndpointId,
  RoutingState,
  Standing,
} from './state.ts';
