// What happens in one process, for whoever watches in another.
export { EventExchange } from './event-exchange.ts';
