// One question to whom the operator or a vendor named: a token service, STS, a metadata server, a source of prices. Such
// addresses are not guarded.
import { asObject, asString, GatewayError, parseJson } from '../canonical/index.ts';
import type { JsonObject } from '../canonical/index.ts';
import type { Sender, UpstreamRequest } from './client.ts';
import { STRAIGHT } from './road.ts';

export interface IssuerQuestion extends Pick<UpstreamRequest, 'method' | 'url'> {
  /** Who is asked, for messages. */
  readonly issuer: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** True: it tells this machine who it is. A proxy is not asked on its behalf, for it would be told who the proxy is. */
  readonly ofMachine?: boolean | undefined;
  /** Sent as a form, by POST. */
  readonly form?: Readonly<Record<string, string>> | undefined;
  /** Sent as JSON, by POST. */
  readonly json?: JsonObject | undefined;
  /** Most bytes of an answer. Default: 64 kB. */
  readonly maxBytes?: number | undefined;
}

export interface IssuerAnswer {
  readonly status: number;
  readonly text: string;
}

const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Asks.
 * @throws GatewayError `upstream_unavailable` where there is no answer, `timeout` where nobody waits for it any more
 */
export function askIssuer(
  { issuer, url, method, headers, ofMachine, form, json, maxBytes = MAX_ANSWER_BYTES }: IssuerQuestion,
  client: Sender,
  signal: AbortSignal,
): Promise<IssuerAnswer> {
  const late = (): GatewayError => new GatewayError('timeout', `${issuer} does not answer`);
  if (signal.aborted) return Promise.reject(late());
  const body = form ? new URLSearchParams(form).toString() : json ? JSON.stringify(json) : '';
  const type = form ? 'application/x-www-form-urlencoded' : json ? 'application/json' : undefined;
  return new Promise((resolve, reject) => {
    let status = 0;
    let bytes = '';
    const call = client.send(
      {
        url,
        method: method ?? (type === undefined ? 'GET' : 'POST'),
        headers: {
          accept: '*/*',
          'accept-encoding': 'identity',
          ...(type === undefined ? {} : { 'content-type': type }),
          ...headers,
        },
        body: Buffer.from(body).toString('latin1'),
        road: ofMachine ? STRAIGHT : undefined,
      },
      {
        connected: () => {},
        head: (head) => (status = head.status),
        data: (piece) => {
          bytes += piece;
          if (bytes.length <= maxBytes) return;
          call.abort();
          reject(
            new GatewayError(
              'upstream_unavailable',
              `${issuer} gives an answer of more than ${maxBytes} bytes`,
            ),
          );
        },
        end: () => resolve({ status, text: Buffer.from(bytes, 'latin1').toString() }),
        failed: (failure, message) =>
          reject(new GatewayError('upstream_unavailable', `${issuer} failed: ${failure} (${message})`)),
      },
    );
    signal.addEventListener('abort', () => {
      call.abort();
      reject(late());
    });
  });
}

/**
 * What is thrown when an issuer gives nothing, in its own words, which name no secret.
 * @param what was asked for, e.g. `no token for the service account`
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
    `${issuer} gives ${what}: ${(words ?? `status ${status}`).slice(0, 300)}`,
    { fault: 'upstream' },
  );
}

/** The words of a refusal as OAuth 2.0 (RFC 6749 section 5.2) and Google's APIs put them; undefined: there are none. */
export function refusalWords(answer: IssuerAnswer): string | undefined {
  const { error, error_description: description } = asObject(parseJson(answer.text));
  return asString(description) ?? asString(error) ?? asString(asObject(error)['message']);
}
