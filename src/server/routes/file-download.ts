// Shared by routes for files: safe file names, and downloads.
import type { StoredFile } from '../../accounts/ports/index.ts';

const LONGEST_NAME = 255;

/** File name without folders and control characters. Never empty. */
export function plainName(filename: string): string {
  const [name = ''] = filename.split(/[/\\]/).slice(-1);
  return withoutControlCharacters(name).slice(0, LONGEST_NAME) || 'file';
}

/** Removes control characters. */
export function withoutControlCharacters(text: string): string {
  return [...text].filter((char) => char >= ' ' && char !== '\u007f').join('');
}

/** Response with a file, with headers that keep browsers from running its content in the gateway's origin. */
export function download(kept: StoredFile, content: ReadableStream<Uint8Array>): Response {
  return new Response(content, {
    headers: {
      'content-type': kept.mediaType,
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(kept.filename)}`,
    },
  });
}
