// A protocol whose path takes bodies in other forms as well: one editor posts them all to `/chat/completions`. Only puts
// the codecs together.
import type { ServedProtocol } from '../protocol.ts';
import { decodeMixed, type Readers } from './decode-request.ts';

/**
 * The same protocol, which also reads bodies in the form of others, whole or in part.
 * @param readers who reads which form
 */
export function withMixedBodies(protocol: ServedProtocol, readers: Readers): ServedProtocol {
  const decodeRequest: ServedProtocol['server']['decodeRequest'] = (body, route) =>
    decodeMixed(body, readers, route);
  return { ...protocol, server: { ...protocol.server, decodeRequest } };
}
