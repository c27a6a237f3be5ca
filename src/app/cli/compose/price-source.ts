// Reads newer prices and models from the configured source: an address, which may be private, or a file. Validates them
// and merges them into the known data.
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { GatewayError } from '../../../canonical/index.ts';
import { bookOver, type PriceBook } from '../../../catalog/index.ts';
import { MOST_PRICE_BYTES, parsePriceData, readPriceFile } from '../../config/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import { requestToken } from '../../../upstream/request-token.ts';
import type { UpstreamClient } from '../../../upstream/client.ts';
import { errorText } from '../../../base/lib/errors.ts';

/** Timeout of a source. */
const PATIENCE_MS = 60_000;

/** Dependencies of a source. */
export interface SourceTools {
  readonly client: UpstreamClient;
  readonly clock: Clock;
}

/** True for an address; false for a path. */
export function isAddress(source: string): boolean {
  return /^https?:\/\//i.test(source);
}

/** Name of the source for logs, without secrets, because an address may contain a token. */
export function nameOfSource(source: string): string {
  if (!isAddress(source)) return source;
  return URL.canParse(source) ? new URL(source).origin + new URL(source).pathname : 'the address';
}

/** Fingerprint that changes with every kind of write. Null: an address, or no file yet. */
export function fingerprintOf(source: string): string | null {
  if (isAddress(source)) return null;
  const stats = statSync(source, { throwIfNoEntry: false });
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : null;
}

/**
 * Reads a source and merges it into the known data.
 * @throws GatewayError for a source that is unavailable or invalid
 */
export async function readPriceSource(
  source: string,
  older: PriceBook,
  { client, clock }: SourceTools,
): Promise<PriceBook> {
  const text = isAddress(source) ? await fetchText(source, client, clock) : readText(source);
  const vendors = await parsePriceData(text);
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  // The same data keeps its version, whenever it is read.
  if (older.version.endsWith(` ${hash}`)) return older;
  const day = new Date(clock.wall()).toISOString().slice(0, 10);
  return bookOver(older, vendors, `catalog ${day} ${hash}`);
}

function readText(path: string): string {
  try {
    return readPriceFile(path);
  } catch (error) {
    throw new GatewayError('invalid_request', errorText(error));
  }
}

async function fetchText(url: string, client: UpstreamClient, clock: Clock): Promise<string> {
  const patience = new AbortController();
  const stop = clock.after(PATIENCE_MS, () => patience.abort());
  try {
    const question = { issuer: nameOfSource(url), url, maxBytes: MOST_PRICE_BYTES };
    const { status, text } = await requestToken(question, client, patience.signal);
    if (status !== 200)
      throw new GatewayError('upstream_unavailable', `${nameOfSource(url)} responded with status ${status}`);
    return text;
  } finally {
    stop();
  }
}
