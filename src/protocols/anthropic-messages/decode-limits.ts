// Anthropic's announcements of its rate limits: the `anthropic-ratelimit-*` headers. Does not decide what they entail.
import type { AnnouncedLimit, LimitNotice } from '../../canonical/index.ts';
import { type AllowanceHeaders, announcedBy, decodeAllowances } from '../rate-limit-headers.ts';

/** Requests and three counts of tokens, each with a moment in RFC 3339 (API reference "Rate limits", 2026-11). */
const ALLOWANCES: readonly AllowanceHeaders[] = ['requests', 'tokens', 'input-tokens', 'output-tokens'].map(
  (of) => ({
    remaining: `anthropic-ratelimit-${of}-remaining`,
    reset: `anthropic-ratelimit-${of}-reset`,
    ...(of === 'requests' && { size: 'anthropic-ratelimit-requests-limit' }),
    readReset,
  }),
);

/**
 * The limit that is nearest; null when none is announced.
 * @param header reads a response header by lower-case name
 * @param nowMs Unix milliseconds
 */
export function decodeLimits(header: (name: string) => string | null, nowMs: number): LimitNotice | null {
  return decodeAllowances(ALLOWANCES, header, nowMs);
}

/** Limits of requests and of all tokens, where they name their size. */
export function announcedLimits(header: (name: string) => string | null): readonly AnnouncedLimit[] {
  return announcedBy((kind, what) => header(`anthropic-ratelimit-${kind}-${what}`));
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function readReset(text: string, nowMs: number): number | undefined {
  const at = RFC_3339.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : at - nowMs;
}
