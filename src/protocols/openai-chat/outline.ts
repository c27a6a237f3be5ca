// Outline of a Chat Completions request without its conversation.
import { Problems } from '../../canonical/index.ts';
import { decodeModelId } from '../members/gateway-options.ts';
import { decodeMetadata } from '../openai/decode-members.ts';
import { endUserOf } from './requests/decode-request.ts';
import type { OutlineCodec } from '../protocol.ts';

export const outline: OutlineCodec = {
  members: new Set(['model', 'models', 'stream', 'metadata', 'safety_identifier', 'user']),
  decode(body) {
    const problems = new Problems();
    const model = decodeModelId(body, problems);
    if (model === '') return null;
    const metadata = decodeMetadata(body['metadata'], problems);
    return { model, stream: body['stream'] === true, metadata, endUser: endUserOf(body) };
  },
};
