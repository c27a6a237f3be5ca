// What processes share through a server of Valkey or Redis.
export { ValkeyBulletin } from './bulletin.ts';
export { ValkeyCounterStore } from './counter-store.ts';
export { isServerUrl, ValkeyServer } from './server.ts';
