// Options that the packed script and the executable have in common.
import { join } from 'node:path';

/** Folder of the package. */
export const ROOT = join(import.meta.dirname, '..');
/** Names stay: errors and profiles show them. */
export const MINIFY = { whitespace: true, syntax: true, identifiers: false };
/**
 * Levels of functions in functions that are compiled beside the script, which is read into memory as a whole, used or not; the
 * functions within those are made from source when they are first called.
 */
export const COMPILED_DEPTH = 1;
