// Outline of an interaction without its input.
import type { JsonObject } from '../../base/json/index.ts';
import { Problems } from '../../canonical/index.ts';
import type { OutlineCodec } from '../protocol.ts';
import { readString } from '../members/read-member.ts';

/** Google accepts model names with and without their collection. */
const COLLECTION = /^models\//;

export const outline: OutlineCodec = {
  members: new Set(['model', 'agent', 'stream']),
  decode(body) {
    const model = decodeAsked(body, new Problems());
    return model === '' ? null : { model, stream: body['stream'] === true };
  },
};

/** Reads the model or agent. A problem if both or neither are present. */
export function decodeAsked(body: JsonObject, problems: Problems): string {
  const model = readString(body['model'], 'model', problems);
  const agent = readString(body['agent'], 'agent', problems);
  if (model !== undefined && agent !== undefined) problems.add('agent', 'cannot be used together with model');
  const asked = (model ?? agent ?? '').replace(COLLECTION, '');
  if (asked === '') problems.add('model', 'is required unless agent is given');
  return asked;
}
