// Detects the media type of a file by its first bytes or its name.

/** Base64 of the first bytes of common formats. */
const BEGINNINGS: readonly (readonly [RegExp, string])[] = [
  [/^iVBORw0KGgo/, 'image/png'],
  [/^\/9j\//, 'image/jpeg'],
  [/^R0lGOD/, 'image/gif'],
  // RIFF container: `RIFF`, four bytes of length, then the format.
  [/^UklGR.{7}QVZF/, 'audio/wav'],
  [/^UklGR/, 'image/webp'],
  [/^JVBERi/, 'application/pdf'],
  // An ID3 tag, or the first frame of MPEG layer III.
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

/** Media type by the first bytes, given as base64; undefined if unknown. */
export function sniffMediaType(base64: string): string | undefined {
  return BEGINNINGS.find(([beginning]) => beginning.test(base64))?.[1];
}

/** Media type by the extension of a file name or URL; undefined if unknown. */
export function mediaTypeOfName(name: string): string | undefined {
  const path = name.split(/[?#]/, 1)[0] ?? '';
  const dot = path.lastIndexOf('.');
  return dot < 0 ? undefined : EXTENSIONS.get(path.slice(dot + 1).toLowerCase());
}

/** Subtypes of `audio/` that differ from OpenAI's name of the format. */
const AUDIO_FORMATS: Readonly<Record<string, string>> = {
  mpeg: 'mp3',
  'x-wav': 'wav',
  wave: 'wav',
  pcm: 'pcm16',
};

/** Audio format of a canonical part; undefined for other media. @param mediaType in lower case */
export function audioFormat(mediaType: string): string | undefined {
  const [kind, subtype = ''] = mediaType.split(/[/;]/);
  return kind === 'audio' ? (AUDIO_FORMATS[subtype] ?? subtype) : undefined;
}

/** True for media types of text formats. Pass the type in lower case, without parameters. */
export function isTextType(mediaType: string): boolean {
  return (
    mediaType.startsWith('text/') ||
    /^application\/(?:json|jsonl|xml|yaml|x-yaml|javascript|toml)$/.test(mediaType)
  );
}

/** Bytes that are enough to recognise a format, and to distinguish text from binary data. */
const HEAD_BYTES = 4096;

/** A type and a subtype, without parameters. */
const PLAIN_TYPE = /^[a-z]+\/[\w.+-]{1,100}$/;

/** The type that a sender names, without parameters; undefined for what is none. `jsonl` is what Google's guides write. */
export function plainMediaType(given: string): string | undefined {
  const [type = ''] = given.toLowerCase().split(';', 1);
  const plain = type.trim() === 'jsonl' ? 'application/jsonl' : type.trim();
  return PLAIN_TYPE.test(plain) ? plain : undefined;
}

/**
 * Media type of a file. Its bytes decide; its sender and its name count only if they are ambiguous.
 * @param bytes the file, or its first 4096 bytes
 * @param declared by its sender, without parameters
 */
export function mediaTypeOfFile(bytes: Uint8Array, filename: string, declared?: string): string {
  const sniffed = sniffMediaType(btoa(String.fromCharCode(...bytes.subarray(0, 24))));
  if (sniffed !== undefined) return sniffed;
  const named = declared ?? mediaTypeOfName(filename) ?? '';
  const namesText = isTextType(named);
  if (isText(bytes.subarray(0, HEAD_BYTES))) return namesText ? named : 'text/plain';
  return named === '' || namesText || RECOGNISABLE.has(named) ? 'application/octet-stream' : named;
}

/** True for UTF-8 without NUL bytes. The last character may be incomplete. */
function isText(head: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return !head.includes(0);
  } catch {
    return false;
  }
}
