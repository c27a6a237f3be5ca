// Names of files that were uploaded to the gateway, as Google's clients have them: its libraries take names of small letters and digits
// out of addresses, so that `file-` in front of the store's ids is left out. Names with it are good, too.

/** Ids of the store. Earlier ones have `_`. */
const STORED = String.raw`file[-_]\w+`;
const SHORT = '[0-9a-f]{24}';
/**
 * A name, or an address of the gateway. That is known by its path, since clients reach the gateway under several hosts. Addresses of
 * Google's own files stay addresses.
 */
const GIVEN = new RegExp(
  `^(?:(?:https?://(?!generativelanguage\\.googleapis\\.com/)[^/?#\\s]+/v1beta/)?files/(${SHORT}|${STORED})|(${STORED}))$`,
);

/** The name of a file, e.g. `files/0123456789abcdef01234567`. @param id of the store */
export function fileNameOf(id: string): string {
  return `files/${id.replace(/^file-/, '')}`;
}

/** The id in the store; undefined for what names no file of the gateway. @param given a name or an address */
export function fileIdOf(given: string): string | undefined {
  const found = GIVEN.exec(given);
  const id = found?.[1] ?? found?.[2];
  return id === undefined || id.startsWith('file') ? id : `file-${id}`;
}
