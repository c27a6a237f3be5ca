// Reads newer prices and models from where the operator says: an address, which may be private, or a file. Checks them and
// lays them over what is known. Decides nothing.
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { GatewayError } from '../../../canonical/index.ts';
import { bookOver, type PriceBook } from '../../../catalog/index.ts';
import { MOST_PRICE_BYTES, parsePriceData, readPriceFile } from '../../config/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import { askIssuer } from '../../../upstream/ask-issuer.ts';
import type { UpstreamClient } from '../../../upstream/client.ts';

/** A source that gives nothing in this time is given up. */
const PATIENCE_MS = 60_000;

/** Dependencies of a source. */
export interface SourceTools {
  readonly client: UpstreamClient;
  readonly clock: Clock;
}

/** True for an address, false for a path. */
export function isAddress(source: string): boolean {
  return /^https?:\/\//i.test(source);
}

/** The source as a log may name it: an address may hold a token. */
export function nameOfSource(source: string): string {
  if (!isAddress(source)) return source;
  return URL.canParse(source) ? new URL(source).origin + new URL(source).pathname : 'the address';
}

/** Fingerprint that changes with every way of writing a file. Null: an address, or no file yet. */
export function fingerprintOf(source: string): string | null {
  if (isAddress(source)) return null;
  const stats = statSync(source, { throwIfNoEntry: false });
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : null;
}

/**
 * Reads a source over what is known.
 * @throws GatewayError for a source that gives nothing, or something that is not used
 */
export async function readPriceSource(
  source: string,
  older: PriceBook,
  { client, clock }: SourceTools,
): Promise<PriceBook> {
  const text = isAddress(source) ? await fetchText(source, client, clock) : readText(source);
  const vendors = await parsePriceData(text);
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  // The same data is the same version, whenever it is read.
  if (older.version.endsWith(` ${hash}`)) return older;
  const day = new Date(clock.wall()).toISOString().slice(0, 10);
  return bookOver(older, vendors, `catalog ${day} ${hash}`);
}

function readText(path: string): string {
  try {
    return readPriceFile(path);
  } catch (error) {
    throw new GatewayError('invalid_request', error instanceof Error ? error.message : String(error));
  }
}

async function fetchText(url: string, client: UpstreamClient, clock: Clock): Promise<string> {
  const patience = new AbortController();
  const stop = clock.after(PATIENCE_MS, () => patience.abort());
  try {
    const question = { issuer: nameOfSource(url), url, maxBytes: MOST_PRICE_BYTES };
    const { status, text } = await askIssuer(question, client, patience.signal);
    if (status !== 200)
      throw new GatewayError('upstream_unavailable', `${nameOfSource(url)} answers with status ${status}`);
    return text;
  } finally {
    stop();
  }
}
