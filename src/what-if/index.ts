// What past requests would have cost, and where they would have gone, if something had been otherwise.
export type { Changes } from './changed-catalog.ts';
export { ASSUMPTIONS, estimate, type Estimate, type EstimateInput, type Part } from './estimate.ts';
export { type PastRequest, pastRequest } from './past-request.ts';
