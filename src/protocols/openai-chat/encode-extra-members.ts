// Members that a compatible server puts into its answers beyond the documented ones (`audio`, `images`, Google's
// `extra_content` with a call's signature): they go on to the client, who may have to send them back.
import type { JsonObject, MutableJsonObject } from '../../base/json/index.ts';
import type { Source } from '../../canonical/index.ts';
import { ownRaw } from './encode-context.ts';
import { CALL_SHAPE, WRITTEN_SHAPE } from './member-shapes.ts';

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
