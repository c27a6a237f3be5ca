// Requests to services named by the operator or a vendor: token services, STS, metadata servers, price sources. Such
// addresses are not guarded.
import { asObject, asString, parseJson } from '../base/json/index.ts';
import { GatewayError } from '../canonical/index.ts';
import type { JsonObject } from '../base/json/index.ts';
import { askWhole } from './ask.ts';
import { type Sender, type UpstreamRequest, Destination, type DestinationInput } from './client.ts';
import { DIRECT } from './network-route.ts';
import { slicesOf } from '../base/lib/bytes.ts';

export interface IssuerQuestion extends Pick<DestinationInput, 'method' | 'url'> {
  /** Name of the issuer, for messages. */
  readonly issuer: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * True: the service identifies this machine by its connection. No proxy is used, because it would return the proxy's
   * identity.
   */
  readonly ofMachine?: boolean | undefined;
  /** Sent as a form, by POST. */
  readonly form?: Readonly<Record<string, string>> | undefined;
  /** Sent as JSON, by POST. */
  readonly json?: JsonObject | undefined;
  /** Maximum bytes of the answer. Default: 64 kB. */
  readonly maxBytes?: number | undefined;
}

export interface IssuerAnswer {
  readonly status: number;
  readonly text: string;
}

const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Sends the request.
 * @throws GatewayError `upstream_unavailable` without an answer, `timeout` when the signal is aborted
 */
export async function requestToken(
  question: IssuerQuestion,
  client: Sender,
  signal: AbortSignal,
): Promise<IssuerAnswer> {
  const { issuer, maxBytes = MAX_ANSWER_BYTES } = question;
  const late = (): GatewayError => new GatewayError('timeout', `${issuer} did not respond`);
  if (signal.aborted) throw late();
  const asked = askWhole({ ...requestOf(question, client), maxBytes }, client);
  signal.addEventListener('abort', asked.abort, { once: true });
  const outcome = await asked.outcome;
  signal.removeEventListener('abort', asked.abort);
  if (outcome === null) throw late();
  if (!('failure' in outcome)) return { status: outcome.head.status, text: outcome.bytes.toString() };
  const [failure, message] = outcome.failure;
  throw new GatewayError(
    'upstream_unavailable',
    failure === 'size' ? `${issuer} returned ${message}` : `${issuer} failed: ${failure} (${message})`,
  );
}

function requestOf(
  { url, method, headers, ofMachine, form, json }: IssuerQuestion,
  client: Sender,
): UpstreamRequest {
  const body = form ? new URLSearchParams(form).toString() : json ? JSON.stringify(json) : '';
  const type = form ? 'application/x-www-form-urlencoded' : json ? 'application/json' : undefined;
  const to = new Destination({
    url,
    method: method ?? (type === undefined ? 'GET' : 'POST'),
    headers: {
      accept: '*/*',
      'accept-encoding': 'identity',
      ...(type === undefined ? {} : { 'content-type': type }),
      ...headers,
    },
    networkRoute: ofMachine ? DIRECT : client.networkRoute,
  });
  return { to, body: slicesOf(body) };
}

/**
 * Error for an issuer that returns nothing, with its message, which contains no secrets.
 * @param what what was requested, e.g. `no token for the service account`
 */
export function notIssued(
  issuer: string,
  what: string,
  { status }: IssuerAnswer,
  words?: string,
): GatewayError {
  const isRefusal = status === 400 || status === 401 || status === 403 || status === 404;
  return new GatewayError(
    isRefusal ? 'authentication' : 'upstream_unavailable',
    `${issuer} returned ${what}: ${(words ?? `status ${status}`).slice(0, 300)}`,
    { fault: 'upstream' },
  );
}

/** Error message in the form of OAuth 2.0 (RFC 6749 section 5.2) or Google's APIs. Undefined: none. */
export function refusalWords(answer: IssuerAnswer): string | undefined {
  const { error, error_description: description } = asObject(parseJson(answer.text));
  return asString(description) ?? asString(error) ?? asString(asObject(error)['message']);
}
