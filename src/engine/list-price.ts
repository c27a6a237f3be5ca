// Whether a request is charged by the prices that the catalog knows: those of a vendor's usual service.
import type { CanonicalRequest } from '../canonical/index.ts';
import type { Endpoint } from '../catalog/index.ts';
import { sharesMembers } from '../protocols/index.ts';

/** Words of OpenAI, Anthropic and Groq for the usual service, and for what the account is set to (API references, 2026-11). */
const USUAL: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only', 'on_demand']);

/** False where the request asks the vendor for another service, which costs more or less by a price that nobody knows. */
export function isListPriced(
  { serviceTier, protocol }: Pick<CanonicalRequest, 'serviceTier' | 'protocol'>,
  endpoint: Pick<Endpoint, 'protocol'>,
): boolean {
  if (serviceTier === undefined || USUAL.has(serviceTier)) return true;
  // To any other protocol it is dropped.
  return protocol !== endpoint.protocol && !sharesMembers(protocol, endpoint.protocol);
}
