// Error for the client when no endpoint could answer.
import type { ErrorKind } from '../../canonical/index.ts';
import { GatewayError, isOverloaded } from '../../canonical/index.ts';
import { isOwnRefusal } from '../failure-table.ts';

/** The error of one failed try, and who made it. */
export interface Failure {
  /** Slug of the endpoint. */
  readonly endpoint: string;
  readonly error: GatewayError;
}

/** Kinds that are told as they are where all endpoints failed so, and in which words. */
const SHARED: Partial<Readonly<Record<ErrorKind, string>>> = {
  timeout: 'every endpoint was too slow',
  rate_limited: 'every endpoint is rate limited',
  quota: 'no endpoint has credit left',
};

/**
 * One error for all failures: the caller's own mistake and a refusal of our own as they are; a limit, an empty account or a timeout that all share
 * as such; else one that says what each endpoint did (contract: "Errors"). It has the words of the upstream where there
 * was but one, and where all were overloaded.
 */
export function finalError(failures: readonly Failure[]): GatewayError {
  const [first] = failures;
  if (!first) return new GatewayError('upstream_unavailable', 'no endpoint serves this model at the moment');
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
    `${words ?? 'no endpoint could answer'}: ${summary(failures)}`,
    {
      code: codeOf(errors),
      // A client that not every endpoint asked to wait may find one that answers sooner.
      retryAfterMs: waits.length > 0 && isShared ? Math.min(...waits) : undefined,
      details: isOne ? error.details : undefined,
      upstream: isOne || errors.every(isOverloaded) ? error.upstream : undefined,
    },
  );
}

/** Servers have many codes for a limit, and clients know the one that stands for the kind. */
function codeOf(errors: readonly GatewayError[]): string | undefined {
  const codes = new Set(errors.map(({ kind, code }) => (kind === 'rate_limited' ? undefined : code)));
  return codes.size === 1 ? [...codes][0] : undefined;
}

/** Outcome of each endpoint, in order; the same failure of one endpoint stands once, with its count. */
function summary(failures: readonly Failure[]): string {
  const counts = new Map<string, number>();
  for (const { endpoint, error } of failures) {
    const line = error.message.startsWith(endpoint) ? error.message : `${endpoint}: ${error.message}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return [...counts].map(([line, count]) => (count > 1 ? `${line} (${count} tries)` : line)).join('; ');
}
