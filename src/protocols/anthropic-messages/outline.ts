// Outline of a Messages request without its conversation.
import { asString, type JsonObject } from '../../base/json/index.ts';
import { Problems, type CanonicalRequest } from '../../canonical/index.ts';
import type { OutlineCodec } from '../protocol.ts';
import { readObject, requireString } from '../members/read-member.ts';

export const outline: OutlineCodec = {
  members: new Set(['model', 'stream', 'metadata']),
  decode(body) {
    const problems = new Problems();
    const model = requireString(body['model'], 'model', problems);
    if (model === undefined) return null;
    const metadata = decodeMetadata(body, problems);
    return { model, stream: body['stream'] === true, metadata, endUser: metadata?.['user_id'] };
  },
};

/** Decodes `metadata.user_id` for the record. Upstreams of this protocol get the whole object. */
export function decodeMetadata(body: JsonObject, problems: Problems): CanonicalRequest['metadata'] {
  const raw = readObject(body['metadata'], 'metadata', problems);
  const userId = asString(raw?.['user_id']);
  return userId ? { user_id: userId } : undefined;
}
