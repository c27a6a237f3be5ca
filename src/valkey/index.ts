// What processes share through a server of Valkey or Redis.
export { ValkeyCounterStore } from './counter-store.ts';
export { isServerUrl, ValkeyServer } from './server.ts';
