// Sends a request to an endpoint: adds what its host requires, and selects its connection pool and signer.
import { editJson, jsonBytes } from '../../base/json/index.ts';
import { joined, type Slices } from '../../base/lib/bytes.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { AttemptRecorder } from '../payload-recorder.ts';
import { type AnswerReceiver, ask, type Question } from '../../upstream/ask.ts';
import type { UpstreamCall, UpstreamClient, UpstreamRequest } from '../../upstream/client.ts';
import { type Envelope, preparedEndpoint } from '../prepared-endpoint.ts';
import { attemptSpanId, traceLines } from '../../base/telemetry/trace-context.ts';
import type { AttemptInput, AttemptNumber } from './attempt-input.ts';
import { signerOf } from './endpoint-signer.ts';

/** A request to an endpoint, and the tenant it is sent for. */
export interface Outgoing extends Pick<UpstreamRequest, 'tenant' | 'staleness' | 'lines'> {
  readonly envelope: Envelope;
  readonly body: Slices;
  /** Records request and response. Absent: not recorded. */
  readonly recorder?: AttemptRecorder | undefined;
}

/**
 * Sends a request to an endpoint.
 * @param maxBytes maximum bytes of the answer
 * @param between see `ask`
 * @throws GatewayError or TypeError when nothing could be sent
 */
export function askEndpoint(
  endpoint: Endpoint,
  outgoing: Outgoing,
  upstream: Pick<UpstreamClient, 'send' | 'now' | 'wall'>,
  taker: AnswerReceiver,
  maxBytes: number,
  between?: Parameters<typeof ask>[3],
): UpstreamCall {
  const { recorder } = outgoing;
  const question = questionTo(endpoint, outgoing, upstream, maxBytes);
  return ask(question, recorder ? recorder.over(upstream) : upstream, taker, between);
}

/** The request as it is sent to an endpoint: body members that its host requires, connection pool and signer. */
export function questionTo(
  endpoint: Endpoint,
  { envelope, body, tenant, staleness, lines }: Outgoing,
  upstream: Pick<UpstreamClient, 'send' | 'now' | 'wall'>,
  maxBytes: number,
): Question {
  const { to, edits } = envelope;
  const { credential, networkRoute } = endpoint;
  return {
    to,
    body: edits ? editJson(jsonBytes(joined(body)), edits) : body,
    pool: preparedEndpoint(endpoint).pool,
    tenant,
    staleness,
    lines,
    maxBytes,
    credential: credential && signerOf(credential, upstream, networkRoute),
  };
}

// The request of one attempt: address, headers, body, and connection pool.

export function attemptRequest(
  { prepared, requester }: AttemptInput,
  { fresh, ordinal }: AttemptNumber,
): Outgoing {
  const { endpoint, path, type, passedHeaders, request, body } = prepared;
  const { id, call, trace } = requester.arrival;
  const { principal, headers, recorder } = call;
  const known = preparedEndpoint(endpoint);
  const passed = { headers, names: passedHeaders };
  return {
    envelope:
      path === undefined
        ? known.answers(request.stream, passed)
        : known.operation({ url: endpoint.baseUrl + path, type, stream: request.stream }, passed),
    body,
    tenant: principal.keyId,
    staleness: fresh ? 'fresh' : 'tell',
    recorder: recorder?.attempt(ordinal, endpoint),
    lines: trace ? traceLines(trace, attemptSpanId(id, ordinal)) : undefined,
  };
}
