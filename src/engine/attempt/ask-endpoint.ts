// Asks an endpoint: adds to a request what its host wants, whose connections carry it, and who signs it where no fixed header
// proves who sends it.
import { editJson, jsonBytes } from '../../base/json/index.ts';
import { joined, type Slices } from '../../base/lib/slices.ts';
import type { Endpoint, EndpointCredential } from '../../catalog/index.ts';
import type { AttemptRecorder } from '../payload-recorder.ts';
import { type AnswerTaker, ask, type Question } from '../../upstream/ask.ts';
import type { UpstreamCall, UpstreamClient, UpstreamRequest } from '../../upstream/client.ts';
import type { Credential } from '../../upstream/credential.ts';
import { type Envelope, preparedEndpoint } from '../prepared-endpoint.ts';
import { upstreamCredential } from './upstream-credential.ts';

/** A request to an endpoint, and on whose behalf it is sent. */
export interface Outgoing extends Pick<UpstreamRequest, 'tenant' | 'staleness' | 'lines'> {
  readonly envelope: Envelope;
  readonly body: Slices;
  /** Notes what goes out and what comes back; absent: nobody keeps that. */
  readonly recorder?: AttemptRecorder | undefined;
}

/**
 * Asks an endpoint.
 * @param maxBytes most bytes of the answer
 * @param between as `ask` has it
 * @throws GatewayError or TypeError where nothing could be sent
 */
export function askEndpoint(
  endpoint: Endpoint,
  outgoing: Outgoing,
  upstream: Pick<UpstreamClient, 'send' | 'now' | 'wall'>,
  taker: AnswerTaker,
  maxBytes: number,
  between?: Parameters<typeof ask>[3],
): UpstreamCall {
  const { recorder } = outgoing;
  const question = questionTo(endpoint, outgoing, upstream, maxBytes);
  return ask(question, recorder ? recorder.over(upstream) : upstream, taker, between);
}

/** The question as it goes to an endpoint: what its host wants in the body, whose connections carry it, who signs it. */
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
