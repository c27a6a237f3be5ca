// The members around the choices, the same in an answer and in every chunk of a stream.
import type { MutableJsonObject } from '../../base/json/index.ts';
import type { StartEvent } from '../../canonical/index.ts';

/** The values of OpenAI's schema `ServiceTier`; other servers' words would fail strict clients. */
const SERVICE_TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast']);

/** Gives an answer or a chunk `service_tier` and `system_fingerprint` where the upstream gave them. */
export function putUpstreamFacts(body: MutableJsonObject, start: StartEvent): void {
  const { serviceTier, systemFingerprint } = start;
  if (serviceTier !== undefined && SERVICE_TIERS.has(serviceTier)) body['service_tier'] = serviceTier;
  if (systemFingerprint) body['system_fingerprint'] = systemFingerprint;
}
