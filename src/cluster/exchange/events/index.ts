// Events of one process, for subscribers in another.
export { EventExchange } from './event-exchange.ts';
