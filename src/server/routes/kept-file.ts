// Parts that routes over files share: names that files may have, and their bytes as an answer.
import type { StoredFile } from '../../accounts/ports/index.ts';

const LONGEST_NAME = 255;

/** Name without folders and control characters, and never empty. */
export function plainName(filename: string): string {
  const [name = ''] = filename.split(/[/\\]/).slice(-1);
  return printable(name).slice(0, LONGEST_NAME) || 'file';
}

/** The text without control characters. */
export function printable(text: string): string {
  return [...text].filter((char) => char >= ' ' && char !== '\u007f').join('');
}

/** The bytes of a file of any content: no browser is to run it in the name of this address. */
export function download(kept: StoredFile, content: ReadableStream<Uint8Array>): Response {
  return new Response(content, {
    headers: {
      'content-type': kept.mediaType,
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(kept.filename)}`,
    },
  });
}
