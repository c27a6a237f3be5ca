// Outline of a Responses request without its input.
import { asString } from '../../base/json/index.ts';
import { Problems } from '../../canonical/index.ts';
import { decodeModelId } from '../members/gateway-options.ts';
import { decodeMetadata } from '../openai/decode-members.ts';
import type { OutlineCodec } from '../protocol.ts';

export const outline: OutlineCodec = {
  members: new Set(['model', 'models', 'stream', 'metadata', 'safety_identifier', 'prompt', 'background']),
  decode(body) {
    const problems = new Problems();
    const model = decodeModelId(body, problems);
    // A prompt template can set missing members, and background requests are queued, so both need the whole body.
    if (model === '' || (body['prompt'] ?? null) !== null || body['background'] === true) return null;
    return {
      model,
      stream: body['stream'] === true,
      metadata: decodeMetadata(body['metadata'], problems),
      endUser: asString(body['safety_identifier']) || undefined,
    };
  },
};
