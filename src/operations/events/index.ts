// Live events of a running gateway.
export { EventHub, type LiveEvent } from './hub.ts';
export { LastUsed } from './last-used.ts';
