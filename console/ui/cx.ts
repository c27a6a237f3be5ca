// Joins names of classes.

/** The names that are there, behind one another. */
export function cx(...names: readonly (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}
