// Reads and parses text of a price source. The validator is loaded on demand.
import type { Vendor } from '../../catalog/index.ts';
import { readConfiguredFile } from './configured-file.ts';

/** Maximum bytes of such data; that of 2026-11 has one and a half million. */
export const MOST_PRICE_BYTES = 16 * 1_048_576;

/** Text of a file. Throws file system errors, and Error if it is too large. */
export function readPriceFile(path: string): string {
  return readConfiguredFile(path, MOST_PRICE_BYTES);
}

/**
 * Parses published data, yielding to other work in between.
 * @throws GatewayError `invalid_request` naming the first invalid place
 */
export async function parsePriceData(text: string): Promise<readonly Vendor[]> {
  const { checkPriceData } = await import('./schema/price-data-schema.ts');
  const slices = checkPriceData(text);
  for (;;) {
    const { done, value } = slices.next();
    if (done) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
