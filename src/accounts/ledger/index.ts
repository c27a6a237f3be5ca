// The ledger: what a request cost, what is recorded of it, and how a client sees the record.
export * from './count-tokens.ts';
export * from './counted-requests.ts';
export * from './estimate-tokens.ts';
export * from './generation-view.ts';
export * from './price.ts';
export * from './record.ts';
