// Converts HTML documents and fragments to text with Markdown links and headings.
import { GatewayError } from '../../../canonical/index.ts';
import { HtmlReader } from './html-reader.ts';
import { TextWriter } from './text-writer.ts';

export interface ReadableDocument {
  readonly title: string;
  readonly text: string;
}

/** Characters read per turn of the event loop: a few milliseconds, 20 for the worst known markup. */
const PORTION_CHARS = 32_768;

/**
 * Text of a document. Yields to other work while reading.
 * @param baseUrl address of the document
 * @param most maximum characters of text; the rest is not read
 * @throws GatewayError `cancelled`
 */
export async function readHtml(
  html: string,
  baseUrl: string,
  most: number,
  signal: AbortSignal,
): Promise<ReadableDocument> {
  const readOnce = async (everything: boolean): Promise<ReadableDocument | undefined> => {
    const writer = new TextWriter(most);
    const reader = new HtmlReader(html, writer, { baseUrl, everything });
    await readPortions(reader, 0, signal);
    const text = writer.toString();
    return everything || (text !== '' && !reader.isLeavingOut) ? { title: reader.title, text } : undefined;
  };
  // If too little is left, content may be hidden by mistake, by an unclosed tag, or until a script runs.
  return (await readOnce(false)) ?? (await readOnce(true)) ?? { title: '', text: '' };
}

async function readPortions(reader: HtmlReader, from: number, signal: AbortSignal): Promise<void> {
  if (!reader.read(from, from + PORTION_CHARS)) return;
  await new Promise((resolve) => setImmediate(resolve));
  if (signal.aborted) throw new GatewayError('cancelled', 'The reading of this page was cancelled.');
  return readPortions(reader, from + PORTION_CHARS, signal);
}

/** Text of a search engine's fragment, on one line. */
export function htmlToText(fragment: string): string {
  const writer = new TextWriter(fragment.length);
  new HtmlReader(fragment, writer, { everything: true }).read(0, fragment.length);
  return writer.toString().replace(/\s+/g, ' ');
}
