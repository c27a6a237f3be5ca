// Final error: the client's error when no endpoint answered.
import { type ErrorKind, GatewayError, isOverloaded } from '../../canonical/index.ts';
import { isOwnRefusal } from '../failure-table.ts';

/** Error of one failed try, and its endpoint. */
export interface Failure {
  /** Slug of the endpoint. */
  readonly endpoint: string;
  readonly error: GatewayError;
}

/** Kinds of error that are kept if all endpoints failed in the same way, with their message. */
const SHARED: Partial<Readonly<Record<ErrorKind, string>>> = {
  timeout: 'Every endpoint was too slow',
  rate_limited: 'Every endpoint is rate limited',
  quota: 'The account of every endpoint is out of credit',
};

/**
 * Combines all failures into one error (contract: "Errors"). Client errors and own refusals are returned unchanged. A
 * limit, empty account or timeout shared by all keeps its kind. Otherwise the error lists each endpoint's failure. The
 * upstream's body is kept if there was only one failure, or all were overloaded.
 */
export function finalError(failures: readonly Failure[]): GatewayError {
  const [first] = failures;
  if (!first) return new GatewayError('upstream_unavailable', 'No endpoint of this model is available.');
  const { error } = failures.at(-1) ?? first;
  if (isOwnRefusal(error)) return error;
  const errors = failures.map((failure) => failure.error);
  const isShared = errors.every(({ kind }) => kind === error.kind);
  if (error.fault === 'client' && (failures.length === 1 || isShared)) return error;
  const words = isShared ? SHARED[error.kind] : undefined;
  const isOne = failures.every(({ endpoint }) => endpoint === first.endpoint);
  const waits = errors.map(({ retryAfterMs }) => retryAfterMs).filter((ms) => ms !== undefined);
  return new GatewayError(
    words ? error.kind : 'upstream_unavailable',
    `${words ?? 'No endpoint could serve the request'}: ${summary(failures)}`,
    {
      code: codeOf(errors),
      // If only some endpoints asked for a delay, another may answer sooner.
      retryAfterMs: waits.length > 0 && isShared ? Math.min(...waits) : undefined,
      details: isOne ? error.details : undefined,
      upstream: isOne || errors.every(isOverloaded) ? error.upstream : undefined,
    },
  );
}

/** Servers have many codes for rate limits, while clients know the one of the kind. */
function codeOf(errors: readonly GatewayError[]): string | undefined {
  const codes = new Set(errors.map(({ kind, code }) => (kind === 'rate_limited' ? undefined : code)));
  return codes.size === 1 ? [...codes][0] : undefined;
}

/** An endpoint that refused a key is named with whose key it was, because clients have another one. */
function subject(endpoint: string, { kind }: GatewayError): string {
  return kind === 'authentication' ? `${endpoint} refused the gateway's API key` : endpoint;
}

/** Outcome of each endpoint, in order. Identical failures of one endpoint appear once, with their count. */
function summary(failures: readonly Failure[]): string {
  const counts = new Map<string, number>();
  for (const { endpoint, error } of failures) {
    const line = error.message.startsWith(endpoint)
      ? error.message
      : `${subject(endpoint, error)}: ${error.message}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return [...counts].map(([line, count]) => (count > 1 ? `${line} (${count} attempts)` : line)).join('; ');
}
