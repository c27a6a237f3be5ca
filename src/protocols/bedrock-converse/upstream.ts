// Converse as spoken to an upstream: the parts put together.
import { lackingBut } from '../../canonical/index.ts';
import { decodeError } from './answers/decode-error.ts';
import { decodeResponse } from './answers/decode-response.ts';
import { decodeStream } from './answers/decode-stream.ts';
import { encodeRequest } from './requests/encode-request.ts';
import { SERVER_FACTS } from './server-facts.ts';
import type { UpstreamCodec } from '../protocol.ts';

/** Converse has a field for these alone (API reference "Converse", 2026-11); models name others as they like. */
const LACKS = lackingBut(['temperature', 'topP', 'stop']);

export const bedrockConverseUpstream: UpstreamCodec = {
  facts: SERVER_FACTS,
  path: '/model',
  pathFor,
  headers: { accept: '*/*' },
  lacks: LACKS,
  schemasOnly: true,
  functionsOnly: true,
  textOnly: new Set(['assistant', 'system', 'developer']),
  // Bytes, or an `s3:` address (API reference "ImageSource", "DocumentSource", 2026-11).
  takesUrl: () => false,
  encodeRequest,
  decodeResponse,
  decodeStream,
  decodeError,
};

/** The model and the mode stand in the path. A model may be named by its ARN, whose slashes are escaped. */
function pathFor(model: string, stream: boolean): string {
  return `/model/${encodeURIComponent(model)}/${stream ? 'converse-stream' : 'converse'}`;
}
