// What happens in a running gateway, for whoever listens.
export { EventHub, type LiveEvent, type SharedEvent } from './hub.ts';
