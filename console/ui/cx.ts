// Joins class names.

/** Joins all names that are set with spaces. */
export function cx(...names: readonly (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}
