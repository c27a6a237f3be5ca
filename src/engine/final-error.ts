// What the client is told when no endpoint could answer.
import { GatewayError } from '../canonical/index.ts';

/** The error of one failed try, and who made it. */
export interface Failure {
  /** Slug of the endpoint. */
  readonly endpoint: string;
  readonly error: GatewayError;
}

/**
 * One error for all failures: the caller's own mistake as it is, a rate limit that all share as 429, 504 when all
 * were timeouts, else 502 that says what each endpoint did (contract: "Errors").
 */
export function finalError(failures: readonly Failure[]): GatewayError {
  const [first] = failures;
  if (!first) return new GatewayError('upstream_unavailable', 'no endpoint serves this model at the moment');
  const last = failures.at(-1) ?? first;
  if (
    last.error.fault === 'client' &&
    (failures.length === 1 || failures.every((failure) => failure.error.kind === last.error.kind))
  )
    return last.error;
  const all = (kind: GatewayError['kind']): boolean =>
    failures.every((failure) => failure.error.kind === kind);
  const text = summary(failures);
  if (all('timeout')) return new GatewayError('timeout', `every endpoint was too slow: ${text}`);
  if (all('rate_limited')) {
    const waits = failures.map((failure) => failure.error.retryAfterMs).filter((ms) => ms !== undefined);
    return new GatewayError('rate_limited', `every endpoint is rate limited: ${text}`, {
      code: 'rate_limit_exceeded',
      retryAfterMs: waits.length > 0 ? Math.min(...waits) : undefined,
    });
  }
  const code = failures.every((failure) => failure.error.code === first.error.code)
    ? first.error.code
    : undefined;
  return new GatewayError('upstream_unavailable', `no endpoint could answer: ${text}`, { code });
}

/** What each endpoint did, in order; the same failure of one endpoint is told once, with its count. */
function summary(failures: readonly Failure[]): string {
  const counts = new Map<string, number>();
  for (const { endpoint, error } of failures) {
    const line = error.message.startsWith(endpoint) ? error.message : `${endpoint}: ${error.message}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return [...counts].map(([line, count]) => (count > 1 ? `${line} (${count} tries)` : line)).join('; ');
}
