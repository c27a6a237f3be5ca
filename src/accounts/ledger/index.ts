// The ledger: cost of a request, its record, and the client's view of it.
export * from './count-tokens.ts';
export * from './counted-requests.ts';
export * from './estimate-tokens.ts';
export * from './generation-view.ts';
export * from './price.ts';
export * from './record.ts';
export * from './outcomes.ts';
