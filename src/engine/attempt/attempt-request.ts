// What one try sends: address, headers, body, and whose connections may carry it. Sends nothing itself.
import type { UpstreamRequest } from '../../upstream/client.ts';
import type { AttemptInput } from './attempt-input.ts';
import { upstreamHeaders, withClientHeaders } from './upstream-headers.ts';
import { upstreamUrl } from './upstream-url.ts';

export function attemptRequest({ prepared, requester, fresh }: AttemptInput): Omit<UpstreamRequest, 'pool'> {
  const { endpoint, protocol, path, passedHeaders, body } = prepared;
  const { stream } = prepared.request;
  const { principal, headers } = requester.call;
  return {
    url: upstreamUrl(endpoint, protocol, stream, path),
    headers: withClientHeaders(upstreamHeaders(endpoint, protocol, stream), headers, passedHeaders),
    body,
    tenant: principal.keyId,
    staleness: fresh ? 'fresh' : 'tell',
  };
}
