// Outline of a `generateContent` request without its contents. Most of it is in the address.
import { Problems } from '../../canonical/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import type { OutlineCodec, RequestRoute } from '../protocol.ts';
import { readString } from '../members/read-member.ts';

export const outline: OutlineCodec = {
  members: new Set(['model']),
  decode(body, route = {}) {
    const model = decodeModel(body, route, new Problems());
    return model === '' ? null : { model, stream: route.stream === true };
  },
};

/** Reads the id of the model from the address or the body. A problem if both lack it. */
export function decodeModel(body: JsonObject, route: RequestRoute, problems: Problems): string {
  const model = route.model ?? readString(body['model'], 'model', problems);
  if (model === undefined || model === '') problems.add('model', 'is required');
  return model?.replace(/^models\//, '') ?? '';
}
