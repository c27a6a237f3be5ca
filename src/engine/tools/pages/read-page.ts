// Opens one web page and gives what a model can read of it. Fetches only through the guard; knows nothing of who asks.
import { type ErrorKind, GatewayError } from '../../../canonical/index.ts';
import type { GuardedAnswer, GuardedFetch } from '../../../upstream/fetch-guarded.ts';
import { visibleText } from '../visible-text.ts';
import type { ReadableDocument } from './html-to-text.ts';
import { startOf } from '../../../base/lib/cut-text.ts';
import type { DurationMs } from '../../../base/units.ts';

export interface Page {
  /** Final address, after redirects. */
  readonly url: string;
  /** Its own, else the name of the file. */
  readonly title: string;
  /**
   * In the manner of Markdown where it was HTML, else as it is, without what nobody sees. Says so at its end when it was
   * cut.
   */
  readonly text: string;
}

export interface PageReaderOptions {
  readonly fetch: Pick<GuardedFetch, 'fetchWhole'>;
  /** For fetching it. */
  readonly timeoutMs?: DurationMs | undefined;
  /** Most bytes of the page as it arrives. */
  readonly maxBytes?: number | undefined;
  /** Most characters of its text. */
  readonly maxChars?: number | undefined;
  /** Text of a PDF. Absent: PDFs are refused. */
  readonly readPdf?: ((bytes: Uint8Array, signal: AbortSignal) => Promise<string>) | undefined;
}

/** Servers that have a page as Markdown give that. */
const ACCEPT = 'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5';
const HTML: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);
const TEXT =
  /^(?:text\/.*|application\/(?:.*\+)?(?:json|xml|yaml|x-yaml|javascript|x-ndjson|toml|sql|x-sh))$/;
/** Media types that servers send when they do not know the type. */
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
      throw notRead(
        'unsupported',
        'it holds no text; perhaps only a browser that runs its scripts shows any',
      );
    return { url: answer.url, title: title === '' ? nameOf(answer.url) : title, text };
  }

  async #document(answer: GuardedAnswer, signal: AbortSignal): Promise<ReadableDocument> {
    const { bytes, url, header } = answer;
    const contentType = header('content-type');
    const type = mediaTypeOf(bytes, contentType);
    if (type === 'application/pdf') {
      const { readPdf } = this.#options;
      if (!readPdf) throw notRead('unsupported', 'it is a PDF, and those cannot be read yet');
      return { title: '', text: await readPdf(bytes, signal) };
    }
    // One character more than is kept tells that there are more.
    if (HTML.has(type)) {
      // Loaded with the first page: most gateways never open one.
      const { readHtml } = await import('./html-to-text.ts');
      return readHtml(decodeText(bytes, contentType), url, this.#maxChars + 1, signal);
    }
    if (TEXT.test(type)) return { title: '', text: decodeText(bytes, contentType) };
    throw notRead(
      'unsupported',
      `it is ${/^[\w.+/-]{1,80}$/.test(type) ? type : 'something'}, which holds no text to read`,
    );
  }

  #cut(text: string): string {
    // Cut first: of a text without end not all has to be looked at.
    const kept = visibleText(startOf(text, this.#maxChars));
    if (text.length <= this.#maxChars || kept.trim() === '') return kept;
    return `${kept}\n\n[The page goes on; only its first ${this.#maxChars} characters are here.]`;
  }
}

/** The type that the server tells, or what the first bytes look like when it does not know. */
function mediaTypeOf(bytes: Uint8Array, contentType: string | null): string {
  const declared = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!UNKNOWN.has(declared)) return declared === 'application/x-pdf' ? 'application/pdf' : declared;
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).toString('latin1');
  if (start.startsWith('%PDF-')) return 'application/pdf';
  if (/^\s*(?:<!--[^]*?-->\s*)?<(?:!doctype html|html|head|body)\b/i.test(start)) return 'text/html';
  return start.includes('\0') ? 'application/octet-stream' : 'text/plain';
}

/** The last part of the path, or the host. */
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
    ? notRead('not_found', 'there is no such page')
    : notRead('upstream_unavailable', `its server answered with status ${status}`);
}

function notRead(kind: ErrorKind, reason: string): GatewayError {
  return new GatewayError(kind, `this page could not be read: ${reason}`, {
    code: 'page_not_read',
    fault: 'upstream',
  });
}

// Text from bytes whose encoding is told in several places, or nowhere. Knows nothing of what the text says.

/** An encoding declaration stands at the beginning of a document (HTML standard, section 4.2.5.4). */
const DECLARATION_BYTES = 1024;

/**
 * Decodes a document. A byte order mark counts first, then what the server says, then what the document says of itself
 * (HTML standard, section 13.2.3.2, read 2026-11); without any it is UTF-8 if it can be, else Windows-1252.
 * @param contentType the header, if there was one
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
