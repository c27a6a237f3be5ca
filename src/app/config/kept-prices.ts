// Newer prices and models, stored in one file of the data directory for the next start. Written atomically by renaming.
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUNDLED_PRICES, keptBook, type PriceBook, type Vendor } from '../../catalog/index.ts';
import { readPriceFile } from './price-source-text.ts';
import type { UnixMs } from '../../base/units.ts';
import { errorText } from '../../base/lib/errors.ts';

/** Format version. The file contains validated data with a hash; an unchanged hash avoids a second, slow validation. */
const FORMAT = 2;

/** Newer data in stored form. */
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

/** Prices known at startup. */
export interface KnownPrices {
  readonly book: PriceBook;
  /** Unix milliseconds when it was read from its source, and the source. Null: the bundled data. */
  readonly kept: Pick<KeptPrices, 'at' | 'from' | 'version'> | null;
  /** Problem with the file. Null: none, or no file. */
  readonly problem: string | null;
}

/**
 * Reads stored prices. A damaged file is reported, and the bundled data is used.
 * @param refresh the configured source; null: stored prices are not used
 */
export function readKnownPrices(dataDir: string, refresh: string | null): KnownPrices {
  const bundled = { book: BUNDLED_PRICES, kept: null, problem: null };
  const path = keptPricesPath(dataDir);
  if (refresh === null || !statSync(path, { throwIfNoEntry: false })) return bundled;
  try {
    const { version, at, from, vendors } = parseKept(readPriceFile(path));
    // Prices of a source that is no longer configured are not used.
    if (from !== refresh) return bundled;
    return { book: keptBook(BUNDLED_PRICES, vendors, version), kept: { at, from, version }, problem: null };
  } catch (error) {
    const message = errorText(error);
    return { ...bundled, problem: `cannot use ${path}: ${message}` };
  }
}

function parseKept(text: string): KeptPrices {
  const { format, sha256, ...kept } = JSON.parse(text) as KeptPrices & { format?: unknown; sha256?: unknown };
  if (format !== FORMAT || sha256 !== hashOf(kept)) throw new Error('it is damaged or from another version');
  return kept;
}

/** Digest of the members in the order of writing. */
function hashOf({ version, from, at, vendors }: KeptPrices): string {
  return createHash('sha256')
    .update(JSON.stringify([version, from, at, vendors]))
    .digest('hex');
}

/** Stores the current prices. Throws file system errors. */
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
