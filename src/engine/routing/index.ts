// Routing: decides which endpoints may answer a request, and in which order.
export { contextOf, mayHold, shownContext, statedContext } from './context-length.ts';
export type { Overflow } from './context-length.ts';
export { cacheLifeMs } from './conversation.ts';
export { MemoryRoutingState } from './memory-state.ts';
export type { EndpointUpdate, HoldUpdate, RoutingUpdate } from './endpoint-updates.ts';
export { effectiveWishes } from './effective-wishes.ts';
export { producerOf, sealedData, storeProducer } from './sealed-reasoning.ts';
export { planRequest } from './plan.ts';
export type { Candidate, Plan, PlanContext } from './plan-types.ts';
export type { BreakerSettings, RoutingSettings } from './settings.ts';
export { attemptEnd, type PastAttempt } from './recent-attempts.ts';
export { isOnlyLimited } from './state.ts';
export type {
  AttemptLease,
  AttemptOutcome,
  EndpointHealth,
  EndpointId,
  RoutingState,
  Availability,
} from './state.ts';
