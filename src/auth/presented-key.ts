// Where a request carries its key.

/**
 * The key in a request's headers: `Authorization: Bearer`, `x-api-key` or `x-goog-api-key`, the first that is there.
 * @param header reads a header by lower-case name
 */
export function presentedKey(header: (name: string) => string | null): string | null {
  const authorization = header('authorization');
  if (
    authorization !== null &&
    authorization.length > 7 &&
    authorization.slice(0, 7).toLowerCase() === 'bearer '
  ) {
    const key = authorization.slice(7).trim();
    if (key !== '') return key;
  }
  return header('x-api-key')?.trim() || header('x-goog-api-key')?.trim() || null;
}
