// Text of HTML documents and fragments, with links and headings in the manner of Markdown. Knows nothing of where
// they come from.
import { GatewayError } from '../../../canonical/index.ts';
import { HtmlReader } from './html-reader.ts';
import { TextWriter } from './text-writer.ts';

export interface ReadableDocument {
  readonly title: string;
  readonly text: string;
}

/** Characters between two looks at what else there is to do: a few milliseconds, 20 of the worst markup we know. */
const PORTION_CHARS = 32_768;

/**
 * Text of a document. Gives way to other work while it reads.
 * @param baseUrl where it is from
 * @param most characters of text; the rest is not looked at
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
  // A page of which too little is left was perhaps hidden by mistake: by a tag that nobody closed, or until a script runs.
  return (await readOnce(false)) ?? (await readOnce(true)) ?? { title: '', text: '' };
}

async function readPortions(reader: HtmlReader, from: number, signal: AbortSignal): Promise<void> {
  if (!reader.read(from, from + PORTION_CHARS)) return;
  await new Promise((resolve) => setImmediate(resolve));
  if (signal.aborted) throw new GatewayError('cancelled', 'nobody waits for this page any longer');
  return readPortions(reader, from + PORTION_CHARS, signal);
}

/** Text of a fragment as search engines give it, on one line. */
export function htmlToText(fragment: string): string {
  const writer = new TextWriter(fragment.length);
  new HtmlReader(fragment, writer, { everything: true }).read(0, fragment.length);
  return writer.toString().replace(/\s+/g, ' ');
}
