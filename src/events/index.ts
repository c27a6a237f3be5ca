// What happens in a running gateway, for whoever listens.
export { EventHub, type LiveEvent } from './hub.ts';
