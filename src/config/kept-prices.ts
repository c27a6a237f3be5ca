// Newer prices and models, kept in one file of the data directory for the next start. Written whole, by one rename. Must
// not know where they come from.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUNDLED_PRICES, keptBook, type PriceBook } from '../catalog/index.ts';
import { MOST_PRICE_BYTES, parseKeptPrices, type KeptPrices } from './price-data-schema.ts';

/** Where the file is. */
export function keptPricesPath(dataDir: string): string {
  return join(dataDir, 'catalog.json');
}

/** What is known of prices at a start. */
export interface KnownPrices {
  readonly book: PriceBook;
  /** When it was read from its source, in Unix milliseconds, and whence; null: it is what came with the gateway. */
  readonly kept: Pick<KeptPrices, 'at' | 'from' | 'version'> | null;
  /** What is wrong with the file; null when it is good, or when there is none. */
  readonly problem: string | null;
}

/**
 * Reads what was kept. A damaged file is a problem to tell of, not a reason to stop: what came with the gateway is used.
 * @param refresh the source that is configured; null: what was kept is not used
 */
export function readKnownPrices(dataDir: string, refresh: string | null): KnownPrices {
  const bundled = { book: BUNDLED_PRICES, kept: null, problem: null };
  const path = keptPricesPath(dataDir);
  if (refresh === null || !statSync(path, { throwIfNoEntry: false })) return bundled;
  try {
    const { version, at, from, vendors } = parseKeptPrices(readPriceFile(path));
    // Those of another source were never asked for.
    if (from !== refresh) return bundled;
    return { book: keptBook(BUNDLED_PRICES, vendors, version), kept: { at, from, version }, problem: null };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ...bundled, problem: `${path} is not used: ${message}` };
  }
}

/** The text of a file, if it is not too large. Throws what the file system does, and Error. */
export function readPriceFile(path: string): string {
  const { size } = statSync(path);
  if (size > MOST_PRICE_BYTES) throw new Error(`it is larger than ${MOST_PRICE_BYTES} bytes`);
  return readFileSync(path, 'utf8');
}

/** Keeps what is in force. Throws what the file system does. */
export function keepPrices(dataDir: string, kept: KeptPrices): void {
  const path = keptPricesPath(dataDir);
  const draft = `${path}.${crypto.randomUUID()}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${JSON.stringify({ format: 1, ...kept })}\n`, { mode: 0o600 });
    chmodSync(draft, 0o600);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
