// Media types of files whose sender did not say: by their first bytes, or by their name. Knows no protocol.

/** The first bytes of common formats, as base64 shows them. */
const BEGINNINGS: readonly (readonly [RegExp, string])[] = [
  [/^iVBORw0KGgo/, 'image/png'],
  [/^\/9j\//, 'image/jpeg'],
  [/^R0lGOD/, 'image/gif'],
  // `RIFF`, four bytes of length, and `WAVE` or what else may be in it.
  [/^UklGR.{7}QVZF/, 'audio/wav'],
  [/^UklGR/, 'image/webp'],
  [/^JVBERi/, 'application/pdf'],
  // A tag, or the first frame of MPEG's layer III.
  [/^SUQz|^\/\/[I-Po-v]/, 'audio/mp3'],
  [/^ZkxhQ/, 'audio/flac'],
  [/^T2dnU/, 'audio/ogg'],
];
const RECOGNISABLE: ReadonlySet<string> = new Set(BEGINNINGS.map(([, type]) => type));

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
  ['doc', 'application/msword'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xls', 'application/vnd.ms-excel'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['ppt', 'application/vnd.ms-powerpoint'],
  ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  ['mp3', 'audio/mp3'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['ogg', 'audio/ogg'],
  ['m4a', 'audio/m4a'],
  ['mp4', 'video/mp4'],
  ['mov', 'video/quicktime'],
  ['webm', 'video/webm'],
]);

/** By the first bytes, seen through base64; undefined for anything else. */
export function sniffMediaType(base64: string): string | undefined {
  return BEGINNINGS.find(([beginning]) => beginning.test(base64))?.[1];
}

/** By the extension of a file's name or of an address; undefined for one that is not known. */
export function mediaTypeOfName(name: string): string | undefined {
  const path = name.split(/[?#]/, 1)[0] ?? '';
  const dot = path.lastIndexOf('.');
  return dot < 0 ? undefined : EXTENSIONS.get(path.slice(dot + 1).toLowerCase());
}

/** Subtypes of `audio/` whose names differ from those that formats have among OpenAI's parameters. */
const AUDIO_FORMATS: Readonly<Record<string, string>> = {
  mpeg: 'mp3',
  'x-wav': 'wav',
  wave: 'wav',
  pcm: 'pcm16',
};

/** The format of audio as the canonical part names it; undefined for other media. @param mediaType in lower case */
export function audioFormat(mediaType: string): string | undefined {
  const [kind, subtype = ''] = mediaType.split(/[/;]/);
  return kind === 'audio' ? (AUDIO_FORMATS[subtype] ?? subtype) : undefined;
}

/** True for what is read as text, whatever its format: without parameters, in lower case. */
export function isTextType(mediaType: string): boolean {
  return (
    mediaType.startsWith('text/') || /^application\/(?:json|xml|yaml|x-yaml|javascript|toml)$/.test(mediaType)
  );
}

/** Enough to recognise a format, and to tell text from other bytes. */
const HEAD_BYTES = 4096;

/**
 * The type of a file. What its bytes say counts; its name only says what they leave open.
 * @param bytes the file, or its first 4096 bytes
 */
export function mediaTypeOfFile(bytes: Uint8Array, filename: string): string {
  const sniffed = sniffMediaType(btoa(String.fromCharCode(...bytes.subarray(0, 24))));
  if (sniffed !== undefined) return sniffed;
  const named = mediaTypeOfName(filename) ?? '';
  const namesText = named.startsWith('text/') || named === 'application/json';
  if (isText(bytes.subarray(0, HEAD_BYTES))) return namesText ? named : 'text/plain';
  return named === '' || namesText || RECOGNISABLE.has(named) ? 'application/octet-stream' : named;
}

/** UTF-8 without zeros; the last character may be cut off. */
function isText(head: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return !head.includes(0);
  } catch {
    return false;
  }
}
