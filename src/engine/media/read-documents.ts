// Replaces files by text for endpoints that do not accept files. Decides how files are converted and introduced;
// `documents/` reads PDFs.
import type { CanonicalRequest, FilePart, Media, Part, Report, TextPart } from '../../canonical/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { pdfText } from '../documents/pdf-text.ts';
import { partsOf, withParts } from './item-parts.ts';
import { isTextType, mediaTypeOfFile } from '../../base/lib/media-type.ts';

/** Texts of one request's files, by content. Further endpoints of the same request reuse them. */
export type ReadDocuments = Map<Media, Promise<readonly string[]>>;

/** Maximum PDFs of one request, because each may take seconds. */
const MOST_PDFS = 20;

/** True for a request with files, at an endpoint that does not accept them. */
export function needsReading(request: CanonicalRequest, { quirks }: Endpoint): boolean {
  return !quirks.readsFiles && request.items.some((item) => partsOf(item).some(isFile));
}

/**
 * Replaces files by their text, or images by image parts, and reports the approximation.
 * @param known texts of this request so far; new ones are added
 * @param signal aborted when the client no longer waits; reading then stops
 * @throws GatewayError naming the part: `unsupported` for a file without readable text, so that an endpoint that
 * accepts files is tried; `invalid_request` for too many PDFs
 */
export async function readDocuments(
  request: CanonicalRequest,
  endpoint: Endpoint,
  known: ReadDocuments,
  signal: AbortSignal,
): Promise<CanonicalRequest> {
  const report = request.report.fork();
  const items = [];
  for (const item of request.items) {
    items.push(
      partsOf(item).some(isFile)
        ? await withParts(item, async (part) =>
            isFile(part) && !signal.aborted ? replace(part, endpoint, known, report, signal) : part,
          )
        : item,
    );
  }
  return { ...request, items, report };
}

async function replace(
  part: FilePart,
  { slug }: Endpoint,
  known: ReadDocuments,
  report: Report,
  signal: AbortSignal,
): Promise<Part | readonly Part[]> {
  const { media, path, cache, filename } = part;
  if (media.kind !== 'base64')
    throw new GatewayError(
      'unsupported',
      `${slug} does not support files, and this file is not available to the gateway`,
      {
        param: path,
      },
    );
  const bytes = Buffer.from(media.data, 'base64');
  const stated = media.mediaType?.split(';')[0]?.trim().toLowerCase();
  const isVague = stated === undefined || stated === '' || stated === 'application/octet-stream';
  const type = isVague ? mediaTypeOfFile(bytes, filename ?? '') : stated;
  if (type.startsWith('image/')) return { type: 'image', media: { ...media, mediaType: type }, path, cache };
  const name = filename || (type === 'application/pdf' ? 'file.pdf' : 'file');
  const texts = await textsOf(media, bytes, type, known, part, signal);
  report.add(
    path ?? 'input',
    'approximated',
    type === 'application/pdf'
      ? `${slug} does not support PDFs: the text of its ${texts.length === 1 ? 'page' : `${texts.length} pages`} was sent, without images and layout`
      : `${slug} does not support files: its text was sent`,
  );
  return texts.map((text, index): TextPart => {
    const page = type === 'application/pdf' ? `, page ${index + 1} of ${texts.length}` : '';
    return {
      type: 'text',
      text: `[${name}${page}]\n${text}`,
      path,
      // The breakpoint was after the file.
      cache: index === texts.length - 1 ? cache : undefined,
    };
  });
}

/** The pages of a PDF, or the single text of any other file. */
async function textsOf(
  media: Media,
  bytes: Buffer,
  type: string,
  known: ReadDocuments,
  part: FilePart,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { path } = part;
  if (type !== 'application/pdf') return [decodeText(bytes, type, path)];
  let pages = known.get(media);
  if (!pages) {
    if (known.size >= MOST_PDFS)
      throw new GatewayError(
        'invalid_request',
        `A request can have at most ${MOST_PDFS} PDFs that are converted to text.`,
        {
          param: path,
        },
      );
    pages = pdfText(bytes, signal);
    known.set(media, pages);
    // Registered first, so that a cancelled result is removed before other waiters see it.
    pages.catch(() => signal.aborted && known.delete(media));
  }
  try {
    return await pages;
  } catch (thrown) {
    // Another try began to read it and was cancelled.
    if (!signal.aborted && !known.has(media)) return textsOf(media, bytes, type, known, part, signal);
    const { kind, message, code, fault, retryAfterMs } = GatewayError.from(thrown);
    throw new GatewayError(kind, message, { code, fault, retryAfterMs, param: path, cause: thrown });
  }
}

/** @throws GatewayError `unsupported` */
function decodeText(bytes: Buffer, type: string, path: string | undefined): string {
  if (!isTextType(type))
    throw new GatewayError(
      'unsupported',
      `Only PDF and text files can be sent to this model (got ${type}).`,
      {
        param: path,
      },
    );
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new GatewayError('unsupported', `The file is declared as ${type} but is not UTF-8 text.`, {
      param: path,
    });
  }
}

function isFile(part: Part): part is FilePart {
  return part.type === 'file';
}
