// Media types of files whose sender did not say: by their first bytes, or by their name. Knows no protocol.

/** Base64 of the first bytes of common formats. */
const BEGINNINGS: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['JVBERi', 'application/pdf'],
];

const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['heic', 'image/heic'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/plain'],
  ['log', 'text/plain'],
  ['yaml', 'text/plain'],
  ['yml', 'text/plain'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['xml', 'text/xml'],
  ['json', 'application/json'],
  ['mp3', 'audio/mp3'],
  ['wav', 'audio/wav'],
  ['mp4', 'video/mp4'],
  ['mov', 'video/quicktime'],
  ['webm', 'video/webm'],
]);

/** By the first bytes, seen through base64; undefined for anything else. */
export function sniffMediaType(base64: string): string | undefined {
  return BEGINNINGS.find(([beginning]) => base64.startsWith(beginning))?.[1];
}

/** By the extension of a file's name or of an address; undefined for one that is not known. */
export function mediaTypeOfName(name: string): string | undefined {
  const path = name.split(/[?#]/, 1)[0] ?? '';
  const dot = path.lastIndexOf('.');
  return dot < 0 ? undefined : EXTENSIONS.get(path.slice(dot + 1).toLowerCase());
}
