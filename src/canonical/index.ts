// The canonical model: a union of what the protocols can say, not an intersection.
export * from './client-names.ts';
export * from './collect.ts';
export * from './embeddings.ts';
export * from './error.ts';
export * from './event.ts';
export * from './hosted-tool.ts';
export * from './item.ts';
export * from './json.ts';
export * from './limit-notice.ts';
export * from './part.ts';
export * from './protocol-name.ts';
export * from './report.ts';
export * from './request.ts';
export * from './routing-wishes.ts';
export * from './state-request.ts';
export * from './target.ts';
export * from './usage.ts';
