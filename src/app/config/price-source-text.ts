// Text of a source of prices, on its way to be checked. Loads what checks it when there is something to check.
import type { Vendor } from '../../catalog/index.ts';
import { readConfiguredFile } from './configured-file.ts';

/** Most bytes of such data; that of 2026-11 has one and a half million. */
export const MOST_PRICE_BYTES = 16 * 1_048_576;

/** The text of a file, if it is not too large. Throws what the file system does, and Error. */
export function readPriceFile(path: string): string {
  return readConfiguredFile(path, MOST_PRICE_BYTES);
}

/**
 * Reads data as it is published; others have their turn meanwhile.
 * @throws GatewayError `invalid_request`, whose message names the first wrong place
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
