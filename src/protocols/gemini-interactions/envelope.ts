// Members of an interaction that the gateway replaces: its own id, that of the previous one, and the model. Every other
// byte is Google's.
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import { asObject, isJsonObject, setMembers } from '../../base/json/index.ts';
import type { Slices } from '../../base/lib/bytes.ts';
import { editMemberObject, editMembers } from '../relay/json-splice.ts';
import type { RemoteNames } from '../protocol.ts';

/** Patches a whole interaction. @param json the parsed body */
export function patchInteraction(bytes: Uint8Array, json: unknown, names: RemoteNames): Slices {
  return setMembers(bytes, namesIn(asObject(json), names));
}

/** Patches an event. @param data its text @param event the same, parsed */
export function patchEvent(data: string, event: JsonObject, names: RemoteNames): string {
  const { interaction, interaction_id: id } = event;
  if (isJsonObject(interaction))
    return editMemberObject(data, 'interaction', { set: namesIn(interaction, names) });
  return typeof id === 'string' ? editMembers(data, { set: { interaction_id: names.id } }) : data;
}

/** Returns the replaced members, as far as they are present. */
function namesIn(interaction: JsonObject, { id, model, follows }: RemoteNames): Record<string, JsonValue> {
  const set: Record<string, JsonValue> = { id };
  for (const member of ['model', 'agent']) if (interaction[member] !== undefined) set[member] = model;
  if (interaction['previous_interaction_id'] !== undefined) set['previous_interaction_id'] = follows ?? '';
  return set;
}
