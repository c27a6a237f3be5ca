// Reads errors of the system and of libraries, which may be any value.

/** Message of an error. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Code of an error, such as `ENOENT`. Undefined: it has none. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
