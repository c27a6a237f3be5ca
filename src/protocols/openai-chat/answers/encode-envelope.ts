// Members of an answer besides what the model says: those around the choices, the same in every chunk of a stream, and those
// beyond the documented ones.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import type { Source, StartEvent } from '../../../canonical/index.ts';
import { ownRaw } from '../requests/encode-context.ts';
import { CALL_SHAPE, WRITTEN_SHAPE } from '../member-shapes.ts';

/** The values of OpenAI's schema `ServiceTier`; other servers' words would fail strict clients. */
const SERVICE_TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast']);

/** Gives an answer or a chunk `service_tier` and `system_fingerprint` where the upstream gave them. */
export function putUpstreamFacts(body: MutableJsonObject, start: StartEvent): void {
  const { serviceTier, systemFingerprint } = start;
  if (serviceTier !== undefined && SERVICE_TIERS.has(serviceTier)) body['service_tier'] = serviceTier;
  if (systemFingerprint) body['system_fingerprint'] = systemFingerprint;
}

// Members that a compatible server puts into its answers beyond the documented ones (`audio`, `images`, Google's
// `extra_content` with a call's signature): they go on to the client, who may have to send them back.

/** The further members of an answer's message or call; undefined when there are none. Empty ones say nothing. */
export function extraMembers(source: Source | undefined): JsonObject | undefined {
  const raw = ownRaw(source);
  if (!raw) return undefined;
  let members: MutableJsonObject | undefined;
  for (const key of Object.keys(raw)) {
    const value = raw[key];
    if (isWritten(key) || key === '__proto__' || value === null || value === undefined) continue;
    if (value === '' || (Array.isArray(value) && value.length === 0)) continue;
    members ??= {};
    members[key] = value;
  }
  return members;
}

/** True for what the encoder writes itself, in messages and in calls. */
function isWritten(name: string): boolean {
  return WRITTEN_SHAPE.known.has(name) || CALL_SHAPE.known.has(name);
}
