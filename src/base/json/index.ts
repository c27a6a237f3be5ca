// JSON as text and as values: scanning, parsing within bounds, writing. Knows nothing of any protocol.
export * from './array-elements.ts';
export * from './bounds.ts';
export * from './json-bytes.ts';
export * from './limits.ts';
export * from './members.ts';
export * from './scan.ts';
export * from './value.ts';
export { isWrittenAsIs } from './text.ts';
