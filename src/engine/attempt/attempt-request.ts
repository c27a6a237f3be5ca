// What one try sends: address, headers, body, and whose connections may carry it. Sends nothing itself.
import type { UpstreamRequest } from '../../upstream/client.ts';
import type { AttemptOptions } from './attempt-options.ts';
import { upstreamHeaders, withClientHeaders } from './upstream-headers.ts';
import { upstreamUrl } from './upstream-url.ts';

/** @param body for the upstream, as a byte string */
export function attemptRequest(
  { endpoint, protocol, stream, path, clientHeaders, passedHeaders, keyId, fresh }: AttemptOptions,
  body: string,
): Omit<UpstreamRequest, 'pool'> {
  return {
    url: upstreamUrl(endpoint, protocol, stream, path),
    headers: withClientHeaders(upstreamHeaders(endpoint, protocol, stream), clientHeaders, passedHeaders),
    body,
    tenant: keyId,
    staleness: fresh ? 'fresh' : 'tell',
  };
}
