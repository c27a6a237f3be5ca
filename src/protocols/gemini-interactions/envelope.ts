// What of an interaction goes by another name here: its own id, that of the one before, and who answers. Every other byte
// is Google's.
import type { JsonObject, JsonValue } from '../../canonical/index.ts';
import { asObject, isJsonObject, parseJson } from '../../canonical/index.ts';
import { editMemberObject, editMembers } from '../json-splice.ts';
import type { RemoteNames } from '../protocol.ts';

/** A whole interaction under the gateway's names. @param json its text, or its bytes as a byte string */
export function patchInteraction(json: string, names: RemoteNames): string {
  return editMembers(json, { set: namesIn(asObject(parseJson(json)), names) });
}

/** An event under the gateway's names. @param data its text; @param event the same, parsed */
export function patchEvent(data: string, event: JsonObject, names: RemoteNames): string {
  const { interaction, interaction_id: id } = event;
  if (isJsonObject(interaction))
    return editMemberObject(data, 'interaction', { set: namesIn(interaction, names) });
  return typeof id === 'string' ? editMembers(data, { set: { interaction_id: names.id } }) : data;
}

/** What has another name, of the members that are there. */
function namesIn(interaction: JsonObject, { id, model, follows }: RemoteNames): Record<string, JsonValue> {
  const set: Record<string, JsonValue> = { id };
  for (const member of ['model', 'agent']) if (interaction[member] !== undefined) set[member] = model;
  if (interaction['previous_interaction_id'] !== undefined) set['previous_interaction_id'] = follows ?? '';
  return set;
}
