// Whether a request is charged by the prices that the catalog knows: those of a vendor's usual service.
import type { CanonicalRequest } from '../canonical/index.ts';
import type { Endpoint } from '../catalog/index.ts';

/** OpenAI's and Anthropic's words for the usual service, and for what the account is set to (API references, 2026-11). */
const USUAL: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only']);

/** False where the request asks the vendor for another service, which costs more or less by a price that nobody knows. */
export function isListPriced(
  { serviceTier, protocol }: Pick<CanonicalRequest, 'serviceTier' | 'protocol'>,
  endpoint: Pick<Endpoint, 'protocol'>,
): boolean {
  // In another protocol it is dropped.
  return serviceTier === undefined || USUAL.has(serviceTier) || protocol !== endpoint.protocol;
}
