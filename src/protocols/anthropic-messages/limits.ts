// Rate-limit headers in Anthropic's form: the gateway's own for clients, and those of upstreams.
import type { AnnouncedLimit, LimitNotice, LimitState, LimitStates } from '../../canonical/index.ts';
import { type AllowanceHeaders, announcedBy, decodeAllowances } from '../usage/rate-limit-headers.ts';
import type { UnixMs } from '../../base/units.ts';

/** Encodes requests and tokens, with reset times in RFC 3339 (API reference "Rate limits", 2026-11). */
export function encodeLimits({ requests, tokens }: LimitStates): Record<string, string> {
  const headers: Record<string, string> = {};
  const add = (of: string, state: LimitState | null): void => {
    if (!state) return;
    const name = `anthropic-ratelimit-${of}`;
    headers[`${name}-limit`] = String(state.amount);
    headers[`${name}-remaining`] = String(Math.floor(state.remaining));
    // Rounded up to seconds, because a client that retries too early would be refused.
    if (state.clearsAtMs !== null)
      headers[`${name}-reset`] = Temporal.Instant.fromEpochMilliseconds(
        Math.ceil(state.clearsAtMs / 1000) * 1000,
      ).toString();
  };
  add('requests', requests);
  add('tokens', tokens);
  return headers;
}

// Decoding of an upstream's `anthropic-ratelimit-*` headers.

/** Requests and three token counts, with reset times in RFC 3339 (API reference "Rate limits", 2026-11). */
const ALLOWANCES: readonly AllowanceHeaders[] = ['requests', 'tokens', 'input-tokens', 'output-tokens'].map(
  (of) => ({
    remaining: `anthropic-ratelimit-${of}-remaining`,
    reset: `anthropic-ratelimit-${of}-reset`,
    ...(of === 'requests' && { size: 'anthropic-ratelimit-requests-limit' }),
    readReset,
  }),
);

/**
 * Returns the limit with the least left; null if none is announced.
 * @param header reads a response header by lower-case name
 */
export function decodeLimits(header: (name: string) => string | null, nowMs: UnixMs): LimitNotice | null {
  return decodeAllowances(ALLOWANCES, header, nowMs);
}

/** Returns the limits of requests and of all tokens that announce their size. */
export function announcedLimits(header: (name: string) => string | null): readonly AnnouncedLimit[] {
  return announcedBy((kind, what) => header(`anthropic-ratelimit-${kind}-${what}`));
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function readReset(text: string, nowMs: UnixMs): number | undefined {
  const at = RFC_3339.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : at - nowMs;
}
