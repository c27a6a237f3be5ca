// Program that reads one PDF: bytes on file descriptor 0, a `PdfAnswer` as JSON on 1. `pdf-text.ts` runs it in a
// separate process with limits on time and memory.
import { readFileSync, writeFileSync } from 'node:fs';
import { getResolvedPDFJS } from 'unpdf';
import { MOST_CHARS, MOST_PAGES, type PdfAnswer } from './pdf-answer.ts';

/** Exceptions of pdf.js. */
const PROBLEMS: Readonly<Record<string, PdfAnswer>> = {
  PasswordException: { problem: 'encrypted' },
};

async function read(data: Uint8Array): Promise<PdfAnswer> {
  const { getDocument } = await getResolvedPDFJS();
  const document = await getDocument({
    data,
    verbosity: 0,
    // Nothing from the untrusted file is compiled or fetched.
    isEvalSupported: false,
    useSystemFonts: true,
    disableFontFace: true,
  }).promise;
  const { numPages } = document;
  if (numPages > MOST_PAGES) return { problem: 'pages', pages: numPages };
  const pages: string[] = [];
  let chars = 0;
  for (let number = 1; number <= numPages; number++) {
    const page = await document.getPage(number);
    const pieces: string[] = [];
    const reader = page.streamTextContent().getReader() as ReadableStreamDefaultReader<TextChunk>;
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      for (const { str = '', hasEOL } of read.value.items) {
        pieces.push(str, hasEOL === true ? '\n' : '');
        chars += str.length + 1;
        // Checked within a page, because one page may expand to gigabytes.
        if (chars > MOST_CHARS) return { problem: 'text' };
      }
    }
    pages.push(pieces.join('').trim());
    page.cleanup();
  }
  return { pages };
}

interface TextChunk {
  readonly items: readonly { readonly str?: string; readonly hasEOL?: boolean }[];
}

function problemOf(error: unknown): PdfAnswer {
  return (error instanceof Error ? PROBLEMS[error.name] : undefined) ?? { problem: 'broken' };
}

const answer = await read(new Uint8Array(readFileSync(0))).catch(problemOf);
writeFileSync(1, JSON.stringify(answer));
