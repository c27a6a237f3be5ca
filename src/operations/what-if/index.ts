// Estimates of the cost, the route and the speed of past requests, if something had been otherwise.
export type { Changes } from './changed-catalog.ts';
export { ASSUMPTIONS, estimate, type Estimate, type EstimateInput, type Part } from './estimate.ts';
export { type PastRequest, pastRequest } from './past-request.ts';
