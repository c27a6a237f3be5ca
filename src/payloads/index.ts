// What each side of a request sent: noted, kept and read.
export { PayloadKeeper } from './keeper.ts';
export type { Payload } from './payload.ts';
