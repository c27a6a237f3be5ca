// Options shared by the packed script and the executable.
import { join } from 'node:path';

/** Folder of the package. */
export const ROOT = join(import.meta.dirname, '..');
/** Identifiers are kept, because errors and profiles show them. */
export const MINIFY = { whitespace: true, syntax: true, identifiers: false };
/**
 * Depth of nested functions whose bytecode is stored. All bytecode of the script is loaded into memory, even if
 * unused. Deeper functions are compiled from source on their first call.
 */
export const COMPILED_DEPTH = 1;
