// Limits of the gateway in the headers by which Messages clients know limits. Does not decide what they are.
import type { LimitState, LimitStates } from '../../canonical/index.ts';

/** Requests and tokens, each with a moment in RFC 3339 (API reference "Rate limits", 2026-11). */
export function encodeLimits({ requests, tokens }: LimitStates): Record<string, string> {
  const headers: Record<string, string> = {};
  const add = (of: string, state: LimitState | null): void => {
    if (!state) return;
    const name = `anthropic-ratelimit-${of}`;
    headers[`${name}-limit`] = String(state.amount);
    headers[`${name}-remaining`] = String(Math.floor(state.remaining));
    // Whole seconds: a moment that is too early would be a refusal.
    if (state.clearsAtMs !== null)
      headers[`${name}-reset`] = Temporal.Instant.fromEpochMilliseconds(
        Math.ceil(state.clearsAtMs / 1000) * 1000,
      ).toString();
  };
  add('requests', requests);
  add('tokens', tokens);
  return headers;
}
