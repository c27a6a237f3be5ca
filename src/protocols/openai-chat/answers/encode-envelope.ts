// Members of an answer around the model's output: those that all chunks of a stream repeat, and undocumented ones.
import { isJsonObject, type JsonObject, type MutableJsonObject } from '../../../base/json/index.ts';
import type { FinishEvent, Source, StartEvent } from '../../../canonical/index.ts';
import { restOf, type RestOfAnswer } from '../../members/answer-rest.ts';
import { ANSWER_MEMBERS } from './answer-members.ts';
import { ownRaw } from '../requests/encode-context.ts';
import { CALL_SHAPE, WRITTEN_SHAPE } from '../member-shapes.ts';

/** Values of OpenAI's schema `ServiceTier`. Strict clients reject others. */
const SERVICE_TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast']);

/** Adds `service_tier` and `system_fingerprint` to an answer or chunk, if the upstream sent them. */
export function putUpstreamFacts(body: MutableJsonObject, start: StartEvent): void {
  const { serviceTier, systemFingerprint } = start;
  if (serviceTier !== undefined && SERVICE_TIERS.has(serviceTier)) body['service_tier'] = serviceTier;
  if (systemFingerprint) body['system_fingerprint'] = systemFingerprint;
}

// Undocumented members of compatible servers (`audio`, `images`, Google's `extra_content` with a call's signature).
// They are passed to the client, who may have to send them back.

/** Returns the undocumented members of a message or call; undefined if there are none. Empty ones are skipped. */
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

/** Returns the remaining members of an answer, and as `unsaid` those of a message without text. */
export function answerRestOf(
  finish: FinishEvent,
): RestOfAnswer & { readonly unsaid: JsonObject | undefined } {
  const { outer, element } = restOf(finish, ANSWER_MEMBERS);
  const { message, ...others } = element;
  const unsaid = isJsonObject(message) ? extraMembers({ protocol: 'openai-chat', raw: message }) : undefined;
  return { outer, element: others, unsaid };
}

/** True for members of messages and calls that the encoder writes itself. */
function isWritten(name: string): boolean {
  return WRITTEN_SHAPE.known.has(name) || CALL_SHAPE.known.has(name);
}
