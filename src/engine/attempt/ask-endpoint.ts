// Sends a request to an endpoint: adds what its host requires, and selects the connection pool and the signer, if a
// fixed header does not suffice.
import { editJson, jsonBytes } from '../../base/json/index.ts';
import { joined, type Slices } from '../../base/lib/slices.ts';
import type { Endpoint, EndpointCredential } from '../../catalog/index.ts';
import type { AttemptRecorder } from '../payload-recorder.ts';
import { type AnswerReceiver, ask, type Question } from '../../upstream/ask.ts';
import type { Sender, UpstreamCall, UpstreamClient, UpstreamRequest } from '../../upstream/client.ts';
import type { Credential } from '../../upstream/credential.ts';
import { type Envelope, preparedEndpoint } from '../prepared-endpoint.ts';
import { fetchAwsKeys } from '../../upstream/aws-keys.ts';
import { applicationToken, identityToken } from '../../upstream/azure-token.ts';
import type { TokenSource } from '../../upstream/credential-source.ts';
import {
  federationToken,
  instanceToken,
  serviceAccountToken,
  userToken,
} from '../../upstream/google-token.ts';
import { type FetchedCredential, RenewedCredential } from '../../upstream/renewed-credential.ts';
import { AwsSigner } from '../../upstream/sign-aws.ts';
import { attemptSpanId, traceLines } from '../../base/telemetry/trace-context.ts';
import type { AttemptInput, AttemptNumber } from './attempt-input.ts';

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

function signerOf(
  credential: EndpointCredential,
  upstream: Pick<UpstreamClient, 'send' | 'now' | 'wall'>,
  networkRoute: Endpoint['networkRoute'],
): Credential {
  const sender = { send: upstream.send.bind(upstream), now: upstream.now, wall: upstream.wall, networkRoute };
  return upstreamCredential(credential, sender);
}

// Signers of requests. One is created for all endpoints of a provider, so that they share one token.

const known = new WeakMap<EndpointCredential, Credential>();

/** Returns the signer for a credential. */
function upstreamCredential(facts: EndpointCredential, upstream: Sender): Credential {
  let credential = known.get(facts);
  if (!credential) {
    credential = makeCredential(facts, upstream);
    known.set(facts, credential);
  }
  return credential;
}

function makeCredential(facts: EndpointCredential, upstream: Sender): Credential {
  if (facts.kind === 'token')
    return new RenewedCredential((signal) => fetchToken(facts.source, upstream, signal), upstream);
  const { keys, region, service } = facts;
  // Given keys need no fetch, so requests are signed synchronously.
  if (keys.from === 'given') {
    const signer = new AwsSigner({ ...keys, region, service }, upstream.wall);
    return { headers: (request) => signer.headers(request) };
  }
  return new RenewedCredential(async (signal) => {
    const fetched = await fetchAwsKeys(keys, upstream, signal);
    const credential = new AwsSigner({ ...fetched.keys, region, service }, upstream.wall);
    return { credential, expiresAt: fetched.expiresAt };
  }, upstream);
}

function fetchToken(source: TokenSource, upstream: Sender, signal: AbortSignal): Promise<FetchedCredential> {
  switch (source.from) {
    case 'google-service-account':
      return serviceAccountToken(source, upstream, signal);
    case 'google-user':
      return userToken(source, upstream, signal);
    case 'google-federation':
      return federationToken(source, upstream, signal);
    case 'google-instance':
      return instanceToken(source, upstream, signal);
    case 'azure-application':
      return applicationToken(source, upstream, signal);
    case 'azure-identity':
      return identityToken(source, upstream, signal);
  }
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
