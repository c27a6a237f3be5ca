// Recorded payloads of each side of a request.
export { PayloadKeeper } from './keeper.ts';
export type { Payload } from './payload.ts';
