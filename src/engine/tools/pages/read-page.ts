// Opens a web page through the guarded fetch and extracts its text for a model.
import { type ErrorKind, GatewayError } from '../../../canonical/index.ts';
import type { GuardedAnswer, GuardedFetch } from '../../../upstream/fetch-guarded.ts';
import { visibleText } from '../visible-text.ts';
import type { ReadableDocument } from './html-to-text.ts';
import { startOf } from '../../../base/lib/cut-text.ts';
import type { DurationMs } from '../../../base/units.ts';

export interface Page {
  /** Final address, after redirects. */
  readonly url: string;
  /** The page's title, otherwise the file name. */
  readonly title: string;
  /**
   * Markdown for HTML, otherwise unchanged; without invisible characters. A note at the end says if it was truncated.
   */
  readonly text: string;
}

export interface PageReaderOptions {
  readonly fetch: Pick<GuardedFetch, 'fetchWhole'>;
  /** Timeout of the fetch. */
  readonly timeoutMs?: DurationMs | undefined;
  /** Maximum bytes of the page as received. */
  readonly maxBytes?: number | undefined;
  /** Maximum characters of its text. */
  readonly maxChars?: number | undefined;
  /** Extracts the text of a PDF. Absent: PDFs are refused. */
  readonly readPdf?: ((bytes: Uint8Array, signal: AbortSignal) => Promise<string>) | undefined;
}

/** Servers that offer Markdown return that. */
const ACCEPT = 'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5';
const HTML: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);
const TEXT =
  /^(?:text\/.*|application\/(?:.*\+)?(?:json|xml|yaml|x-yaml|javascript|x-ndjson|toml|sql|x-sh))$/;
/** Media types that servers send for unknown types. */
const UNKNOWN: ReadonlySet<string> = new Set([
  '',
  'application/octet-stream',
  'binary/octet-stream',
  'unknown/unknown',
]);

export class PageReader {
  readonly #options: PageReaderOptions;
  readonly #maxChars: number;

  constructor(options: PageReaderOptions) {
    this.#options = options;
    this.#maxChars = options.maxChars ?? 200_000;
  }

  /**
   * Reads one page.
   * @param url absolute; its fragment is ignored
   * @throws GatewayError as the guarded fetch does, and `not_found`, `unsupported` or `upstream_unavailable` with the
   * code `page_not_read`
   */
  async read(url: string, signal: AbortSignal): Promise<Page> {
    const { fetch, timeoutMs = 10_000, maxBytes = 10 * 1_048_576 } = this.#options;
    const answer = await fetch.fetchWhole({ url, headers: { accept: ACCEPT }, maxBytes, timeoutMs }, signal);
    if (answer.status < 200 || answer.status > 299) throw badStatus(answer.status);
    const document = await this.#document(answer, signal);
    const title = visibleText(document.title).trim();
    const text = this.#cut(document.text);
    if (text.trim() === '')
      throw notRead('unsupported', 'it has no text without its scripts, which are not run');
    return { url: answer.url, title: title === '' ? nameOf(answer.url) : title, text };
  }

  async #document(answer: GuardedAnswer, signal: AbortSignal): Promise<ReadableDocument> {
    const { bytes, url, header } = answer;
    const contentType = header('content-type');
    const type = mediaTypeOf(bytes, contentType);
    if (type === 'application/pdf') {
      const { readPdf } = this.#options;
      if (!readPdf) throw notRead('unsupported', 'it is a PDF; PDF pages are not supported');
      return { title: '', text: await readPdf(bytes, signal) };
    }
    // One extra character shows that there is more.
    if (HTML.has(type)) {
      // Loaded with the first page, because most gateways never open one.
      const { readHtml } = await import('./html-to-text.ts');
      return readHtml(decodeText(bytes, contentType), url, this.#maxChars + 1, signal);
    }
    if (TEXT.test(type)) return { title: '', text: decodeText(bytes, contentType) };
    throw notRead(
      'unsupported',
      `it is ${/^[\w.+/-]{1,80}$/.test(type) ? type : 'something'}, which is not a supported text format`,
    );
  }

  #cut(text: string): string {
    // Truncated first, because the text may be very long.
    const kept = visibleText(startOf(text, this.#maxChars));
    if (text.length <= this.#maxChars || kept.trim() === '') return kept;
    return `${kept}\n\n[The page was truncated after ${this.#maxChars} characters.]`;
  }
}

/** The server's type, or the type detected from the first bytes if the server does not know it. */
function mediaTypeOf(bytes: Uint8Array, contentType: string | null): string {
  const declared = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!UNKNOWN.has(declared)) return declared === 'application/x-pdf' ? 'application/pdf' : declared;
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).toString('latin1');
  if (start.startsWith('%PDF-')) return 'application/pdf';
  if (/^\s*(?:<!--[^]*?-->\s*)?<(?:!doctype html|html|head|body)\b/i.test(start)) return 'text/html';
  return start.includes('\0') ? 'application/octet-stream' : 'text/plain';
}

/** Last part of the path, or the host. */
function nameOf(address: string): string {
  const { hostname, pathname } = new URL(address);
  const last = pathname.split('/').findLast((part) => part !== '') ?? '';
  try {
    return decodeURIComponent(last) || hostname;
  } catch {
    return last;
  }
}

function badStatus(status: number): GatewayError {
  return status === 404 || status === 410
    ? notRead('not_found', 'the page does not exist')
    : notRead('upstream_unavailable', `its server returned status ${status}`);
}

function notRead(kind: ErrorKind, reason: string): GatewayError {
  return new GatewayError(kind, `This page could not be read: ${reason}.`, {
    code: 'page_not_read',
    fault: 'upstream',
  });
}

// Text encoding detection.

/** An encoding declaration is at the beginning of a document (HTML standard, section 4.2.5.4). */
const DECLARATION_BYTES = 1024;

/**
 * Decodes a document. A byte order mark takes precedence, then the header, then the document's declaration (HTML
 * standard, section 13.2.3.2, read 2026-11). Otherwise UTF-8 if valid, else Windows-1252.
 * @param contentType the header; null: absent
 */
function decodeText(bytes: Uint8Array, contentType: string | null): string {
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
  // A declaration that is readable as bytes cannot be in UTF-16.
  return label !== undefined && /^utf-16/i.test(label) ? 'utf-8' : label;
}

function decoderOf(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label as ConstructorParameters<typeof TextDecoder>[0]);
  } catch {
    return undefined;
  }
}
