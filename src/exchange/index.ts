// What the processes of one installation tell each other: what they do that through, and what is small. A supervisor loads this.
export {
  type AnswerClaim,
  type AnswerStanding,
  type AnswerState,
  type AnswerStore,
  type Asked,
  type Exchanged,
  FAILED_MS,
  type Heard,
  HEARD_MS,
  LEASE_MS,
  MOST_FRAMES,
  type Said,
  type Told,
} from './answer-store.ts';
export { type Bulletin, Listeners, type Topic } from './bulletin.ts';
export { MemoryAnswerStore } from './memory-answer-store.ts';
export { RoutingExchange } from './routing-exchange.ts';
export { TenantChanges } from './tenant-changes.ts';
