// Estimates of cost, routes and speed of past requests under changed conditions.
export { ASSUMPTIONS, estimate, type Part } from './estimate.ts';
export { type PastRequest, pastRequest } from './past-request.ts';
