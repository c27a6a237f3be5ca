// Messages between the processes of one installation. Kept small, because the supervisor loads it.
export {
  type AnswerClaim,
  type ClaimResult,
  type AnswerState,
  type AnswerStore,
  type AnswerRead,
  type Exchanged,
  FAILED_MS,
  type AnswerReceipt,
  READER_MS,
  LEASE_MS,
  MOST_FRAMES,
  type AnswerUpdate,
  type AnswerFrames,
} from './answer-store.ts';
export { type PubSub, Listeners, type Topic } from './pub-sub.ts';
export { MessageSignature, messageSecrets, SIGNATURE_BYTES } from './message-signature.ts';
export { MemoryAnswerStore } from './memory-answer-store.ts';
export { RoutingExchange } from './routing-exchange.ts';
export { TenantChanges } from './tenant-changes.ts';
export { SignedPubSub } from './signed-pub-sub.ts';
