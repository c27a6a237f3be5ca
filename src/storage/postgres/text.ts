// Texts as PostgreSQL takes them within arrays, which the driver passes on as they are.

/** Half of a character has no UTF-8, and PostgreSQL's texts have no NUL. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
