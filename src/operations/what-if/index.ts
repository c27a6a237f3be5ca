// Estimates of the cost, the route and the speed of past requests, if something had been otherwise.
export { ASSUMPTIONS, estimate, type Part } from './estimate.ts';
export { type PastRequest, pastRequest } from './past-request.ts';
