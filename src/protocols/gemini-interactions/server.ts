// The Interactions API as spoken to clients: the parts put together. Knows nothing of upstreams.
import { GatewayError, type CanonicalRequest } from '../../canonical/index.ts';
import { encodeError } from '../google/encode-error.ts';
import type { PortTarget, Ported, ServerCodec } from '../protocol.ts';
import { ADDRESSES } from './addresses.ts';
import { CLIENT_NAMES } from './client-names.ts';
import { decodeRequest } from './requests/decode-request.ts';
import { encodeResponse } from './answers/encode-response.ts';
import { encodeStream } from './answers/encode-stream.ts';
import { namedObjects } from './named-objects.ts';
import { outline } from './outline.ts';
import { remoteAnswers } from './remote-answers.ts';

export const interactionsServer: ServerCodec = {
  addresses: ADDRESSES,
  names: CLIENT_NAMES,
  outline,
  decodeRequest,
  namedObjects,
  portable,
  represents: new Set(),
  remoteAnswers,
  encodeResponse,
  encodeStream,
  encodeError,
};

/**
 * Agents, environments and the state of a conversation are Google's: nobody else can be told of them. What an account
 * keeps, no other account finds.
 */
function portable(request: CanonicalRequest, { protocol, provider }: PortTarget): Ported {
  const { model, follows } = request;
  if (protocol !== request.protocol)
    throw new GatewayError('unsupported', `${model} is not served here through the Interactions API`, {
      param: 'model',
    });
  const keeper = follows?.answer?.provider;
  if (keeper !== undefined && keeper !== provider)
    throw new GatewayError('unsupported', `${follows?.path}: is kept at ${keeper}, not at ${provider}`, {
      param: follows?.path,
    });
  return { request, restore: null };
}
