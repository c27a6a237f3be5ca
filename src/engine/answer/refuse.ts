// Sends an error to a client that has received nothing yet: in its own protocol, or verbatim from the upstream if that
// uses the same protocol.
import type { GatewayError, Report, UpstreamFailure } from '../../canonical/index.ts';
import type { Attempt } from '../attempt/index.ts';
import { isJsonObject, parseJson } from '../../base/json/index.ts';
import { actionFor, asksLongerWait, isOwnRefusal } from '../failure-table.ts';
import type { Arrival } from '../call.ts';
import type { AttemptLog } from '../attempt-log.ts';
import { answerHeaders } from './answer-headers.ts';

/** Answer of a refused request. */
interface Refusal {
  readonly status: number;
  /** Always JSON. The upstream's content type is ignored so that browsers do not render its body. */
  readonly body: string;
}

/** A request with its attempts so far. */
export interface Refused {
  readonly arrival: Arrival;
  readonly attemptLog: AttemptLog;
  /** Losses to report. */
  readonly report: Report;
}

/** HTTP status when the error is the whole answer. */
export function refusalStatus(refused: Refused, error: GatewayError): number {
  return refusalOf(refused, error).status;
}

/**
 * The upstream's body if its answer would have been relayed, otherwise the error in the client's protocol. The
 * upstream's status is kept when it was the only attempt and the caller is at fault.
 */
function refusalOf({ arrival, attemptLog }: Refused, error: GatewayError): Refusal {
  const { call, id } = arrival;
  const { attempts } = attemptLog;
  const { upstream } = error;
  const isClientFault = upstream !== undefined && isClientFaultOnly(attempts.length, error);
  const isPassedOn = isClientFault || (error.fault !== 'client' && upstream && concernsUpstream(upstream));
  if (upstream && isPassedOn && isRelayed(attempts) && isJson(upstream.body))
    return { status: upstream.status, body: upstream.body };
  const { status, body } = call.protocol.server.encodeError(error, id);
  // Some servers respond with 400 for a model that they do not have.
  const keepsStatus = isClientFault && error.httpStatus === undefined;
  return { status: keepsStatus ? upstream.status : status, body: JSON.stringify(body) };
}

/** False for error pages of intermediate servers, which are replaced by the error's message. */
function isJson(body: string): boolean {
  return parseJson(body) !== undefined;
}

/** The status must be 4xx, because an upstream may send any three digits. */
function isClientFaultOnly(attempts: number, { fault, upstream }: GatewayError): boolean {
  if (fault !== 'client' || attempts !== 1 || !upstream) return false;
  return upstream.status >= 400 && upstream.status < 500;
}

/** True when all attempts were at one endpoint whose answer would have been relayed. */
function isRelayed(attempts: readonly Attempt[]): boolean {
  const [first] = attempts;
  // A host of another vendor's protocol has its own form of errors.
  if (!first || first.endpoint.hosting) return false;
  return attempts.every(({ lane, endpoint }) => lane === 'relay' && endpoint === first.endpoint);
}

/**
 * True for rate limits, empty accounts and server errors in a protocol's form, which clients handle themselves. Refused
 * credentials concern the operator, and a proxy's error page belongs to no protocol.
 */
function concernsUpstream({ status, body }: UpstreamFailure): boolean {
  const isPassedOn = status === 402 || status === 429 || (status >= 500 && status < 600);
  if (!isPassedOn) return false;
  const words = parseJson(body);
  // All protocols have this member.
  return isJsonObject(words) && isJsonObject(words['error']);
}

/** Sends the error as the whole answer. */
export function refuse(refused: Refused, error: GatewayError): void {
  const { call } = refused.arrival;
  const { attempts } = refused.attemptLog;
  const { status, body } = refusalOf(refused, error);
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    ...answerHeaders(refused.arrival, attempts.length, attempts.at(-1), refused.report),
    ...retryHeaders(error),
  };
  if (error.upstream?.requestId !== undefined) headers['x-dragoman-upstream-id'] = error.upstream.requestId;
  if (isRetryUseless(error, attempts.length)) headers['x-should-retry'] = 'false';
  call.client.respond(status, headers, body);
}

/** True when SDKs should not repeat the request by themselves. */
function isRetryUseless(error: GatewayError, attempts: number): boolean {
  if (error.isLasting) return true;
  // A conflict of our own without a retry time does not pass.
  if (attempts === 0) return error.kind === 'conflict' && error.retryAfterMs === undefined;
  if (error.fault === 'client' || isOwnRefusal(error)) return false;
  // Only the client can wait as long as the upstream asks.
  if (actionFor(error) === 'retry' && asksLongerWait(error)) return false;
  // Failover was already tried, so a retry by the SDK would only repeat it.
  return true;
}

/** `retry-after` in seconds (rounded up) and in milliseconds, if the wait is known. */
export function retryHeaders(error: GatewayError): Record<string, string> {
  if (error.retryAfterMs === undefined) return {};
  return {
    'retry-after': String(Math.ceil(error.retryAfterMs / 1000)),
    'retry-after-ms': String(error.retryAfterMs),
  };
}
