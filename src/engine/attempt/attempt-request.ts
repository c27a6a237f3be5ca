// What one try sends: address, headers, body, and whose connections may carry it. Sends nothing itself.
import { attemptSpanId, traceLines } from '../../telemetry/trace-context.ts';
import { preparedEndpoint } from '../prepared-endpoint.ts';
import type { AttemptInput, AttemptNumber } from './attempt-input.ts';
import type { Outgoing } from './send-upstream.ts';

export function attemptRequest(
  { prepared, requester }: AttemptInput,
  { fresh, ordinal }: AttemptNumber,
): Outgoing {
  const { endpoint, path, passedHeaders, request, body } = prepared;
  const { id, call, trace } = requester.arrival;
  const { principal, headers, tape } = call;
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
    tape: tape?.attempt(ordinal, endpoint),
    lines: trace ? traceLines(trace, attemptSpanId(id, ordinal)) : undefined,
  };
}
