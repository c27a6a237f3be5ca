// What processes share through a server of Valkey or Redis.
export { ValkeyAnswerStore } from './answer-store.ts';
export { ValkeyBulletin } from './bulletin.ts';
export { ValkeyCounterStore } from './counter-store.ts';
export { isServerUrl, ValkeyServer } from './server.ts';
