// Text from bytes whose encoding is told in several places, or nowhere. Knows nothing of what the text says.

/** An encoding declaration stands at the beginning of a document (HTML standard, section 4.2.5.4). */
const DECLARATION_BYTES = 1024;

/**
 * Decodes a document. A byte order mark counts first, then what the server says, then what the document says of itself
 * (HTML standard, section 13.2.3.2, read 2026-11); without any it is UTF-8 if it can be, else Windows-1252.
 * @param contentType the header, if there was one
 */
export function decodeText(bytes: Uint8Array, contentType: string | null): string {
  const label = markOf(bytes) ?? charsetOf(contentType ?? '') ?? declared(bytes);
  const decoder = label === undefined ? undefined : decoderOf(label);
  if (decoder) return decoder.decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

function markOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xff && second === 0xfe ? 'utf-16le' : undefined;
}

function charsetOf(text: string): string | undefined {
  return /charset\s*=\s*["']?([\w.:-]+)/i.exec(text)?.[1];
}

function declared(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(
    bytes.buffer,
    bytes.byteOffset,
    Math.min(bytes.length, DECLARATION_BYTES),
  ).toString('latin1');
  const tag =
    /<meta\s[^>]*charset[^>]*/i.exec(start)?.[0] ??
    /^<\?xml\s[^>]*/.exec(start)?.[0]?.replace('encoding', 'charset');
  const label = charsetOf(tag ?? '');
  // A reader that could read this declaration is not reading UTF-16.
  return label !== undefined && /^utf-16/i.test(label) ? 'utf-8' : label;
}

function decoderOf(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label as ConstructorParameters<typeof TextDecoder>[0]);
  } catch {
    return undefined;
  }
}
