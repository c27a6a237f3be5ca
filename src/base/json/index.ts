// JSON as bytes, text and values: scanning, bounded parsing, editing.
export * from './array-elements.ts';
export * from './text.ts';
export * from './json-bytes.ts';
export * from './value.ts';
export * from './members.ts';
export * from './scan.ts';
export { isWrittenAsIs } from './text.ts';
