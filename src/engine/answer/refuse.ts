// Tells a client that got nothing yet why it gets no answer: in its own protocol, or in the upstream's own words
// where those are its protocol already.
import type { GatewayError, Report, UpstreamFailure } from '../../canonical/index.ts';
import type { Attempt } from '../attempt/index.ts';
import { isJsonObject, parseJson } from '../../base/json/index.ts';
import { isOwnRefusal } from '../failure-table.ts';
import type { Arrival } from '../call.ts';
import type { AttemptLog } from '../attempt-log.ts';
import { answerHeaders } from './client-answer.ts';

/** Answer of a refused request. */
interface Refusal {
  readonly status: number;
  /** JSON, always: what an upstream calls its own words is no reason to let a browser show them. */
  readonly body: string;
}

/** A request as far as it came. */
export interface Refused {
  readonly arrival: Arrival;
  readonly attemptLog: AttemptLog;
  /** Losses to report. */
  readonly report: Report;
}

/** HTTP status of the error as the whole answer. */
export function refusalStatus(refused: Refused, error: GatewayError): number {
  return refusalOf(refused, error).status;
}

/**
 * The upstream's own words where a relayed answer would have had them, else the error in the words of the client's
 * protocol: with the upstream's status where it was the only one asked and the caller is at fault.
 */
function refusalOf({ arrival, attemptLog }: Refused, error: GatewayError): Refusal {
  const { call, id } = arrival;
  const { attempts } = attemptLog;
  const { upstream } = error;
  const isCallers = upstream !== undefined && isCallersRefusal(attempts.length, error);
  const isPassedOn = isCallers || (error.fault !== 'client' && upstream && concernsUpstream(upstream));
  if (upstream && isPassedOn && isRelayed(attempts) && isJson(upstream.body))
    return { status: upstream.status, body: upstream.body };
  const { status, body } = call.protocol.server.encodeError(error, id);
  // Some servers answer 400 for a model that they do not have.
  const isUpstreams = isCallers && error.httpStatus === undefined;
  return { status: isUpstreams ? upstream.status : status, body: JSON.stringify(body) };
}

/** Pages of servers in between are told in the error's words instead. */
function isJson(body: string): boolean {
  return parseJson(body) !== undefined;
}

/** Only a status that says so: an upstream may write any three digits. */
function isCallersRefusal(attempts: number, { fault, upstream }: GatewayError): boolean {
  if (fault !== 'client' || attempts !== 1 || !upstream) return false;
  return upstream.status >= 400 && upstream.status < 500;
}

/** True when all tries were at one endpoint, whose answer would have been the client's as it is. */
function isRelayed(attempts: readonly Attempt[]): boolean {
  const [first] = attempts;
  // Hosts of another vendor's protocol have errors of their own form.
  if (!first || first.endpoint.hosting) return false;
  return attempts.every(({ lane, endpoint }) => lane === 'relay' && endpoint === first.endpoint);
}

/**
 * True for limits, empty accounts and failures in a protocol's words: clients recover by them. A refused key is the
 * operator's business, and the page of a proxy on the way is nobody's protocol.
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
  // Failover has been tried here: an SDK that retried would only repeat it. Nor does our own 409 go away by itself, unless it
  // says when, nor a limit that the request can never fit.
  const isTried = attempts.length > 0 && error.fault !== 'client' && !isOwnRefusal(error);
  const isConflict = attempts.length === 0 && error.kind === 'conflict' && error.retryAfterMs === undefined;
  if (isTried || isConflict || error.isLasting) headers['x-should-retry'] = 'false';
  call.client.respond(status, headers, body);
}

/** `retry-after` in whole seconds and in milliseconds, where a wait is known. */
export function retryHeaders(error: GatewayError): Record<string, string> {
  if (error.retryAfterMs === undefined) return {};
  return {
    'retry-after': String(Math.ceil(error.retryAfterMs / 1000)),
    'retry-after-ms': String(error.retryAfterMs),
  };
}
