// Extracts the text of PDFs, page by page. Each is read in a separate process with limits, few at a time, so that a
// hostile file only affects that process.
import { fileURLToPath } from 'node:url';
import { GatewayError } from '../../canonical/index.ts';
import { runProgram, type ProgramEnd } from '../../base/runtime/subprocess.ts';
import { MOST_CHARS, MOST_PAGES, type PdfAnswer } from './pdf-answer.ts';
import { Turns } from './turns.ts';
import type { DurationMs } from '../../base/units.ts';

export interface PdfLimits {
  /** Timeout of one file, from when its reading starts. */
  readonly timeoutMs: DurationMs;
  readonly maxMemoryBytes: number;
}

const LIMITS: PdfLimits = { timeoutMs: 15_000, maxMemoryBytes: 768 * 1_048_576 };
const PROGRAM = fileURLToPath(new URL('pdf-process.ts', import.meta.url));
/** A character takes at most six bytes of JSON (`\u0000`). */
const MOST_OUTPUT_BYTES = 6 * MOST_CHARS + 1_000_000;
/** Files in the whole gateway that are read concurrently, and that may be queued. */
const CONCURRENCY = 2;
const MOST_WAITING = 50;

const turns = new Turns(CONCURRENCY, MOST_WAITING, 'PDFs are queued');

/**
 * Returns the text of a PDF.
 * @param signal of the request; also separates requests in the queue. Aborted: reading stops
 * @returns one text for each page, empty for a page without text; at least one is not empty
 * @throws GatewayError `unsupported`, with the reason, for a file that is encrypted, damaged, too large or without text
 * (a scan); `rate_limited` when too many are queued; `cancelled`
 */
export async function pdfText(
  bytes: Uint8Array,
  signal: AbortSignal,
  limits: PdfLimits = LIMITS,
): Promise<readonly string[]> {
  const end = await turns.run(signal, () =>
    runProgram({ file: PROGRAM, input: bytes, maxOutputBytes: MOST_OUTPUT_BYTES, signal, ...limits }),
  );
  if (signal.aborted) throw new GatewayError('cancelled', 'The reading of this PDF was cancelled.');
  const answer = toAnswer(end, limits);
  if (typeof answer === 'string') throw unreadable(answer);
  if (answer.every((page) => page === ''))
    throw unreadable('it has no text: its pages are images, for example scans');
  return answer;
}

/** The pages, or the reason why there are none. */
function toAnswer(end: ProgramEnd, { timeoutMs }: PdfLimits): readonly string[] | string {
  switch (end.type) {
    case 'failed':
      return 'it is corrupt';
    case 'timeout':
      return `reading it takes longer than ${timeoutMs / 1000} seconds`;
    case 'memory':
      return 'reading it takes too much memory';
    case 'output':
      return 'its text is too long';
    case 'answer':
      return toPages(JSON.parse(new TextDecoder().decode(end.output)) as PdfAnswer);
  }
}

function toPages(answer: PdfAnswer): readonly string[] | string {
  if (!('problem' in answer)) return answer.pages;
  switch (answer.problem) {
    case 'encrypted':
      return 'it is encrypted with a password';
    case 'broken':
      return 'it is corrupt';
    case 'text':
      return 'its text is too long';
    case 'pages':
      return `it has ${answer.pages} pages; the limit is ${MOST_PAGES}`;
  }
}

function unreadable(reason: string): GatewayError {
  return new GatewayError('unsupported', `The text of this PDF cannot be extracted: ${reason}.`, {
    code: 'pdf_not_readable',
  });
}
