// Events of a running gateway, for its subscribers.
export { EventHub, type LiveEvent } from './hub.ts';
export { LastUsed } from './last-used.ts';
