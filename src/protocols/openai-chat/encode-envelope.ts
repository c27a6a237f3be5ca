// The members around the choices, the same in an answer and in every chunk of a stream.
import type { MutableJsonObject, StartEvent } from '../../canonical/index.ts';

/** The values of OpenAI's schema `ServiceTier`; other servers' words would fail strict clients. */
const SERVICE_TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast']);

/** `service_tier` and `system_fingerprint` where the upstream gave them. */
export function encodeUpstreamFacts(start: StartEvent): MutableJsonObject {
  const facts: MutableJsonObject = {};
  const { serviceTier, systemFingerprint } = start;
  if (serviceTier !== undefined && SERVICE_TIERS.has(serviceTier)) facts['service_tier'] = serviceTier;
  if (systemFingerprint) facts['system_fingerprint'] = systemFingerprint;
  return facts;
}
