// Replaces references by bytes: uploaded files before planning, and addresses for endpoints that require the bytes.
// Decides media types and limits the total size.
import {
  type CanonicalRequest,
  type FilePart,
  GatewayError,
  type ImagePart,
  isAccountAddress,
  type Item,
  type Media,
  type Part,
  TEXTS,
  notFound,
} from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { findProtocol, type NamedObject, screenshotFile, withScreenshot } from '../../protocols/index.ts';
import type { Files } from '../state/files.ts';
import type { GuardedFetch } from '../../upstream/fetch-guarded.ts';
import { type ByteAccount, HeldBytes } from '../call.ts';
import { type Address, hiddenAddresses, mayHideAddresses, withoutAddresses } from './hidden-addresses.ts';
import { concurrently } from '../concurrently.ts';
import { inOrder, partsOf, withParts } from './item-parts.ts';
import { audioFormat, mediaTypeOfFile } from '../../base/lib/media-type.ts';

/** Sources of bytes. */
export interface MediaSources {
  readonly files: Files;
  readonly fetch: GuardedFetch;
}

/** Fetched content of one request, by address. Further endpoints of the same request reuse it. */
export type FetchedMedia = Map<string, Promise<Content>>;

interface Content {
  readonly bytes: number;
  readonly media: Extract<Media, { kind: 'base64' }>;
  readonly filename: string | undefined;
}

type MediaPart = ImagePart | FilePart;

/** Timeout for all fetches of one address, including redirects. */
const FETCH_MS = 20_000;
/** Concurrent fetches of one request. */
const CONCURRENCY = 4;
const MOST_ADDRESSES = 100;

/**
 * Replaces file ids by the uploaded files. Returns the same list if there are none.
 * @param mayName true: the id belongs to the operator and may be passed to the vendor
 * @param account memory account
 * @throws GatewayError naming the part: `not_found` for an id that is unknown, expired or belongs to another project,
 * `too_large`
 */
export async function resolveFiles(
  items: readonly Item[],
  projectId: string,
  files: Files,
  mayName: (id: string) => boolean,
  account: ByteAccount,
): Promise<readonly Item[]> {
  if (!items.some((item) => screenshotFile(item) !== undefined || partsOf(item).some(namesFile)))
    return items;
  const known = new Map<string, Promise<Content | null>>();
  const allowance = new Allowance(files.maxBytes);
  const held = new HeldBytes(account);
  const contentOf = async (id: string, path: string | undefined): Promise<Content | null> => {
    let content = known.get(id);
    if (!content) known.set(id, (content = read(files, projectId, id, allowance, held, path)));
    const found = await content;
    if (found) allowance.take(found.bytes, path);
    return found;
  };
  return inOrder(items, async (item) => {
    const shot = screenshotFile(item);
    if (shot !== undefined) {
      const content = await contentOf(shot, item.path);
      if (!content) throw notFound('File', shot, item.path);
      const { mediaType, data } = picture(content, item.path).media;
      return withScreenshot(item, `data:${mediaType};base64,${data}`);
    }
    if (!partsOf(item).some(namesFile)) return item;
    return withParts(item, async (part) => {
      if (!namesFile(part)) return part;
      const content = await contentOf(part.media.id, part.path);
      if (content) return filled(part, content);
      if (mayName(part.media.id)) return part;
      throw notFound('File', part.media.id, part.path);
    });
  });
}

/** True for a request with addresses that some endpoints cannot or must not fetch. */
export function hasMediaAddresses(request: CanonicalRequest): boolean {
  return request.items.some(
    (item) =>
      mayHideAddresses(item) || partsOf(item).some((part) => hasMedia(part) && part.media.kind === 'url'),
  );
}

/**
 * Replaces addresses that an endpoint does not accept by bytes. Returns the same request if there are none. Addresses
 * left to a self-hosted server are checked as if they were fetched from here.
 * @param fetched content of this request so far; new content is added
 * @param account memory account
 * @throws GatewayError naming the part: `invalid_request` for an address that must not be fetched, `unsupported` for
 * one without content, so that an endpoint that fetches itself is tried, `too_large`
 */
export async function fetchMedia(
  request: CanonicalRequest,
  endpoint: Endpoint,
  fetched: FetchedMedia,
  { files, fetch }: MediaSources,
  account: ByteAccount,
): Promise<CanonicalRequest> {
  const takes = findProtocol(endpoint.protocol)?.upstream.takesUrl;
  const { isVendorRun, quirks } = endpoint;
  const { fetchesUrls, readsFiles } = quirks;
  if (!takes && fetchesUrls && readsFiles && isVendorRun) return request;
  const isWanted = (part: Part): part is AddressedPart => {
    if (!isAddressed(part)) return false;
    if (!fetchesUrls && !isVendorRun) return true;
    if (!/^https?:/i.test(part.media.url)) return false;
    if (!fetchesUrls || (part.type === 'file' && !readsFiles)) return true;
    // The part's own protocol receives it as the client wrote it.
    return part.source?.protocol !== endpoint.protocol && takes?.(part.media.url, part.type) === false;
  };
  const isHidden = (item: Item): boolean => !isVendorRun && mayHideAddresses(item);
  if (!isVendorRun && fetchesUrls) await checkAddresses(addressesLeft(request.items, isWanted), fetch);
  const wanted = request.items.flatMap((item): readonly Address[] => [
    ...partsOf(item)
      .filter(isWanted)
      .map(({ media, path }) => ({ url: media.url, path })),
    ...(isHidden(item) && !fetchesUrls ? hiddenAddresses(item) : []),
  ]);
  if (wanted.length === 0) return request;
  await download(wanted, fetched, new Allowance(files.maxBytes), fetch, new HeldBytes(account));
  const contents = await contentsOf(wanted, fetched);
  const repeated = new Allowance(files.maxBytes);
  const items = await inOrder(request.items, async (item) => {
    const plain =
      isHidden(item) && !fetchesUrls ? withoutAddresses(item, (url) => dataUrl(contents, url)) : item;
    if (!partsOf(plain).some(isWanted)) return plain;
    return withParts(plain, async (part) => {
      const content = isWanted(part) ? contents.get(part.media.url) : undefined;
      if (!content || !hasMedia(part)) return part;
      repeated.take(content.bytes, part.path);
      return filled(part, content);
    });
  });
  return { ...request, items };
}

type AddressedPart = MediaPart & { media: Extract<Media, { kind: 'url' }> };

function isAddressed(part: Part): part is AddressedPart {
  return hasMedia(part) && part.media.kind === 'url';
}

/** Addresses that the endpoint will fetch itself. */
function addressesLeft(items: readonly Item[], isWanted: (part: Part) => boolean): readonly Address[] {
  return items.flatMap((item): readonly Address[] => [
    ...partsOf(item).flatMap((part) =>
      isAddressed(part) && !isWanted(part) ? [{ url: part.media.url, path: part.path }] : [],
    ),
    ...hiddenAddresses(item),
  ]);
}

/** @throws GatewayError naming the part, as if it were fetched from here */
async function checkAddresses(addresses: readonly Address[], fetch: GuardedFetch): Promise<void> {
  const distinct = distinctOf(addresses);
  await concurrently(distinct, CONCURRENCY, ({ url, path }) =>
    fetch.check(url, FETCH_MS).catch((thrown: unknown) => {
      throw named(thrown, path);
    }),
  );
}

/** Unique addresses. @throws GatewayError when there are too many */
function distinctOf(addresses: readonly Address[]): readonly Address[] {
  const distinct = [...new Map(addresses.map((address) => [address.url, address])).values()];
  const tooMany = distinct[MOST_ADDRESSES];
  if (!tooMany) return distinct;
  const message = `a request can have at most ${MOST_ADDRESSES} URLs that the gateway fetches`;
  throw new GatewayError('invalid_request', message, { param: tooMany.path });
}

/** Fetches missing content with limited concurrency. The first failure fails all. */
async function download(
  addresses: readonly Address[],
  fetched: FetchedMedia,
  allowance: Allowance,
  fetch: GuardedFetch,
  held: HeldBytes,
): Promise<void> {
  let isOver = false;
  await concurrently(distinctOf(addresses), CONCURRENCY, async ({ url, path }) => {
    if (isOver) return;
    let content = fetched.get(url);
    if (!content) fetched.set(url, (content = contentAt(fetch, url, allowance.left, held)));
    try {
      allowance.take((await content).bytes, path);
    } catch (thrown) {
      isOver = true;
      throw named(thrown, path);
    }
  });
}

async function contentsOf(
  addresses: readonly Address[],
  fetched: FetchedMedia,
): Promise<ReadonlyMap<string, Content>> {
  const contents = new Map<string, Content>();
  for (const { url } of addresses) {
    const content = await fetched.get(url);
    if (content) contents.set(url, content);
  }
  return contents;
}

function dataUrl(contents: ReadonlyMap<string, Content>, url: string): string {
  const media = contents.get(url)?.media;
  return media ? `data:${media.mediaType ?? 'application/octet-stream'};base64,${media.data}` : url;
}

function named(thrown: unknown, path: string | undefined): GatewayError {
  const error = GatewayError.from(thrown);
  // Missing memory is not the fault of a part.
  if (error.fault === 'gateway') return error;
  const { kind, message, code } = error;
  return new GatewayError(kind, message, { code, param: path, cause: thrown });
}

/** Remaining bytes that one request may add to its body. Repeated references to one image count each time. */
class Allowance {
  readonly #most: number;
  left: number;

  constructor(most: number) {
    this.#most = most;
    this.left = most;
  }

  /** @throws GatewayError `too_large` */
  take(bytes: number, path: string | undefined): void {
    this.left -= bytes;
    if (this.left >= 0) return;
    throw new GatewayError(
      'too_large',
      `The files of a request must have at most ${this.#most} bytes in total (files.max_mb).`,
      { param: path },
    );
  }
}

async function read(
  files: Files,
  projectId: string,
  id: string,
  allowance: Allowance,
  held: HeldBytes,
  path: string | undefined,
): Promise<Content | null> {
  const file = await files.find(projectId, id);
  if (!file) return null;
  // Checked before the file is read.
  if (file.bytes > allowance.left) allowance.take(file.bytes, path);
  held.add(inBase64(file.bytes));
  const bytes = await files.read(file);
  if (!bytes) return null;
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  const { mediaType, filename } = file;
  return { bytes: bytes.length, media: { kind: 'base64', data, mediaType }, filename };
}

/** Length of `bytes` in base64, the form that is kept. */
function inBase64(bytes: number): number {
  return Math.ceil((bytes * 4) / 3);
}

async function contentAt(
  fetch: GuardedFetch,
  url: string,
  maxBytes: number,
  held: HeldBytes,
): Promise<Content> {
  const taking = (bytes: number): void => held.add(inBase64(bytes));
  const answer = await fetch.fetchWhole({ url, maxBytes, timeoutMs: FETCH_MS, taking });
  const { status, bytes } = answer;
  if (status !== 200 || bytes.length === 0) {
    const reason = status === 200 ? 'it returned no data' : `it returned status ${status}`;
    throw new GatewayError('unsupported', TEXTS.notFetched(reason), {
      code: 'url_not_fetched',
    });
  }
  const filename = nameIn(answer.url);
  const sniffed = mediaTypeOfFile(bytes, filename ?? '');
  const said = answer.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  // The server's type is more precise for text, and for content without a known signature.
  const isVague = sniffed === 'text/plain' || sniffed === 'application/octet-stream';
  const mediaType = isVague ? (said ?? sniffed) : sniffed;
  return {
    bytes: bytes.length,
    media: { kind: 'base64', data: bytes.toString('base64'), mediaType },
    filename,
  };
}

/** Last path segment of an address, if it looks like a file name. */
function nameIn(url: string): string | undefined {
  const step = new URL(url).pathname.split('/').at(-1) ?? '';
  return /^[\w.-]+\.\w{1,5}$/.test(step) ? step : undefined;
}

/** The part with its bytes and actual type: an image among files becomes an image part, a recording becomes audio. */
function filled(part: MediaPart, content: Content): Part {
  const { path, cache } = part;
  if (part.type === 'image')
    return { type: 'image', media: picture(content, path).media, detail: part.detail, path, cache };
  const { media } = content;
  if (isPicture(content)) return { type: 'image', media, path, cache };
  const format = audioFormat(media.mediaType ?? '');
  if (format !== undefined) return { type: 'audio', data: media.data, format, path, cache };
  if (part.filename !== undefined) return { type: 'file', media, filename: part.filename, path, cache };
  return { type: 'file', media, filename: content.filename, isNameFound: true, path, cache };
}

/** @throws GatewayError `invalid_request` */
function picture(content: Content, path: string | undefined): Content {
  if (isPicture(content)) return content;
  throw new GatewayError('invalid_request', `The content is ${content.media.mediaType}, not an image.`, {
    param: path,
  });
}

function isPicture({ media }: Content): boolean {
  return media.mediaType?.startsWith('image/') === true;
}

function hasMedia(part: Part): part is MediaPart {
  return part.type === 'image' || part.type === 'file';
}

/** Google's files are named by addresses that only Google can open. */
function namesFile(part: Part): part is MediaPart & { media: Extract<Media, { kind: 'file_id' }> } {
  return hasMedia(part) && part.media.kind === 'file_id' && !part.media.id.includes('://');
}

/** Files whose addresses only a vendor's account can open: `gs://`, `s3://`, Google's own. */
export function filesOfAccounts(items: readonly Item[]): readonly NamedObject[] {
  const found: NamedObject[] = [];
  for (const item of items)
    for (const part of partsOf(item)) {
      if (!hasMedia(part)) continue;
      const { media } = part;
      const id = media.kind === 'file_id' ? media.id : media.kind === 'url' ? media.url : '';
      if (isAccountAddress(id)) found.push({ id, path: part.path ?? item.path ?? 'items' });
    }
  return found;
}
