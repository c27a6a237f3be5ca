// Payloads of each side of a request: recorded, kept and read.
export { PayloadKeeper } from './keeper.ts';
export type { Payload } from './payload.ts';
