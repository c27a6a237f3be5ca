// Names of uploaded files for Google's clients. Its libraries extract only lower-case letters and digits from
// addresses, so `file-` of the stored id is omitted. Names with it are accepted too.

/** Stored ids. Older ones have `_`. */
const STORED = String.raw`file[-_]\w+`;
const SHORT = '[0-9a-f]{24}';
/**
 * A name, or a gateway address. Addresses are recognized by path, because clients can reach the gateway at several
 * hosts. Addresses of Google's own files remain unchanged.
 */
const GIVEN = new RegExp(
  `^(?:(?:https?://(?!generativelanguage\\.googleapis\\.com/)[^/?#\\s]+/v1beta/)?files/(${SHORT}|${STORED})|(${STORED}))$`,
);

/** Returns the name of a file, e.g. `files/0123456789abcdef01234567`. @param id stored id */
export function fileNameOf(id: string): string {
  return `files/${id.replace(/^file-/, '')}`;
}

/** Returns the stored id; undefined if it is not a file of the gateway. @param given a name or an address */
export function fileIdOf(given: string): string | undefined {
  const found = GIVEN.exec(given);
  const id = found?.[1] ?? found?.[2];
  return id === undefined || id.startsWith('file') ? id : `file-${id}`;
}
