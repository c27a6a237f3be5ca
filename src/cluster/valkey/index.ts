// Shared counters, answers and pub/sub on Valkey or Redis.
export { ValkeyAnswerStore } from './answer-store.ts';
export { ValkeyPubSub } from './pub-sub.ts';
export { ValkeyCounterStore } from './counter-store.ts';
export { isServerUrl, ValkeyServer } from './server.ts';
