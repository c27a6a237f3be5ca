// What one try sends: address, headers, body, and whose connections may carry it. Sends nothing itself.
import { preparedEndpoint } from '../prepared-endpoint.ts';
import type { AttemptInput } from './attempt-input.ts';
import type { Outgoing } from './send-upstream.ts';

/** @param fresh over a connection of its own */
export function attemptRequest({ prepared, requester }: AttemptInput, fresh: boolean): Outgoing {
  const { endpoint, path, passedHeaders, request, body } = prepared;
  const { principal, headers } = requester.arrival.call;
  const known = preparedEndpoint(endpoint);
  const passed = { headers, names: passedHeaders };
  return {
    envelope:
      path === undefined
        ? known.answers(request.stream, passed)
        : known.operation({ url: endpoint.baseUrl + path }, passed),
    body,
    tenant: principal.keyId,
    staleness: fresh ? 'fresh' : 'tell',
  };
}
