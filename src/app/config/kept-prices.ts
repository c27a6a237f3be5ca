// Newer prices and models, kept in one file of the data directory for the next start. Written whole, by one rename. Must
// not know where they come from.
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUNDLED_PRICES, keptBook, type PriceBook, type Vendor } from '../../catalog/index.ts';
import { readPriceFile } from './price-source-text.ts';
import type { UnixMs } from '../../base/units.ts';

/** The file holds what was checked before it was written: what still has its hash needs no second check, which takes long. */
const FORMAT = 2;

/** Newer data as it is kept in the data directory. */
export interface KeptPrices {
  readonly version: string;
  /** Its source, as configured. */
  readonly from: string;
  /** When it was read. */
  readonly at: UnixMs;
  readonly vendors: readonly Vendor[];
}

/** Path of the file. */
function keptPricesPath(dataDir: string): string {
  return join(dataDir, 'catalog.json');
}

/** Prices that are known at a start. */
export interface KnownPrices {
  readonly book: PriceBook;
  /** When it was read from its source, in Unix milliseconds, and whence; null: it is what came with the gateway. */
  readonly kept: Pick<KeptPrices, 'at' | 'from' | 'version'> | null;
  /** Problem with the file; null when it is good, or when there is none. */
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
    const { version, at, from, vendors } = parseKept(readPriceFile(path));
    // Prices of another source were never asked for.
    if (from !== refresh) return bundled;
    return { book: keptBook(BUNDLED_PRICES, vendors, version), kept: { at, from, version }, problem: null };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ...bundled, problem: `${path} is not used: ${message}` };
  }
}

function parseKept(text: string): KeptPrices {
  const { format, sha256, ...kept } = JSON.parse(text) as KeptPrices & { format?: unknown; sha256?: unknown };
  if (format !== FORMAT || sha256 !== hashOf(kept)) throw new Error('it is damaged, or of another version');
  return kept;
}

/** Digest of the members in the order in which they are written. */
function hashOf({ version, from, at, vendors }: KeptPrices): string {
  return createHash('sha256')
    .update(JSON.stringify([version, from, at, vendors]))
    .digest('hex');
}

/** Keeps what is in force. Throws what the file system does. */
export function keepPrices(dataDir: string, kept: KeptPrices): void {
  const path = keptPricesPath(dataDir);
  const draft = `${path}.${crypto.randomUUID()}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${JSON.stringify({ format: FORMAT, sha256: hashOf(kept), ...kept })}\n`, {
      mode: 0o600,
    });
    chmodSync(draft, 0o600);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
