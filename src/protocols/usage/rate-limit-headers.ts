// Rate-limit headers of upstreams and of the gateway. Contains the general rules for an allowance, and the
// `x-ratelimit-*` headers of both OpenAI protocols and most compatible servers.
import type { AnnouncedLimit, LimitNotice, LimitState, LimitStates } from '../../canonical/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** Header names of one allowance, in lower case. */
export interface AllowanceHeaders {
  readonly remaining: string;
  readonly reset: string;
  /**
   * Header with the size of an allowance of requests that refills steadily. Its reset is the time until it is full
   * (OpenAI and Anthropic, "Rate limits", 2026-11; recorded: 100 a day, 98 left, reset in 14m24s). One request is
   * therefore allowed much sooner. Absent for tokens: the next prompt's size is unknown, so the full reset time counts.
   */
  readonly size?: string;
  /** Milliseconds from now until the time in the header; undefined for a malformed value. */
  readonly readReset: (text: string, nowMs: UnixMs) => number | undefined;
}

/**
 * Returns the allowance with the least left; among equals, the one with the latest reset.
 * @param header reads a response header by lower-case name
 * @returns null if no allowance has both a count and a time
 */
export function decodeAllowances(
  allowances: readonly AllowanceHeaders[],
  header: (name: string) => string | null,
  nowMs: UnixMs,
): LimitNotice | null {
  let nearest: LimitNotice | null = null;
  for (const names of allowances) {
    const notice = decodeAllowance(names, header, nowMs);
    if (notice && (!nearest || isNearer(notice, nearest))) nearest = notice;
  }
  return nearest;
}

function isNearer(one: LimitNotice, other: LimitNotice): boolean {
  return one.remaining === other.remaining ? one.resetMs > other.resetMs : one.remaining < other.remaining;
}

function decodeAllowance(
  names: AllowanceHeaders,
  header: (name: string) => string | null,
  nowMs: UnixMs,
): LimitNotice | null {
  const remaining = readCount(header(names.remaining));
  if (remaining === undefined) return null;
  const fullMs = names.readReset(header(names.reset) ?? '', nowMs);
  if (fullMs === undefined) return null;
  const size = names.size === undefined ? undefined : readCount(header(names.size));
  const used = size === undefined ? 1 : Math.max(1, size - remaining);
  return { remaining, resetMs: Math.max(0, Math.ceil(fullMs / used)) };
}

const X_RATE_LIMIT: readonly AllowanceHeaders[] = [
  {
    remaining: 'x-ratelimit-remaining-requests',
    reset: 'x-ratelimit-reset-requests',
    size: 'x-ratelimit-limit-requests',
    readReset: readDuration,
  },
  {
    remaining: 'x-ratelimit-remaining-tokens',
    reset: 'x-ratelimit-reset-tokens',
    readReset: readDuration,
  },
  { remaining: 'x-ratelimit-remaining', reset: 'x-ratelimit-reset', readReset: readMoment },
];

/**
 * Reads the `x-ratelimit-*` headers: those of OpenAI, which Groq and Azure also send, and the single allowance of
 * OpenRouter and Together.
 * @param header reads a response header by lower-case name
 */
export function decodeRateLimitHeaders(
  header: (name: string) => string | null,
  nowMs: UnixMs,
): LimitNotice | null {
  return decodeAllowances(X_RATE_LIMIT, header, nowMs);
}

/** Reads the limits that announce their size in the same headers. */
export function announcedRateLimits(header: (name: string) => string | null): readonly AnnouncedLimit[] {
  return announcedBy((kind, what) => header(`x-ratelimit-${what}-${kind}`));
}

/**
 * Returns the limits for which both the size and the remainder are announced.
 * @param read returns the header of a kind
 */
export function announcedBy(
  read: (kind: AnnouncedLimit['kind'], what: 'limit' | 'remaining') => string | null,
): readonly AnnouncedLimit[] {
  return (['requests', 'tokens'] as const).flatMap((kind) => {
    const amount = readCount(read(kind, 'limit'));
    const remaining = readCount(read(kind, 'remaining'));
    return amount === undefined || remaining === undefined ? [] : [{ kind, amount, remaining }];
  });
}

/** Undefined for anything but a non-negative number: Azure sends -1 where it does not count. */
function readCount(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Parses a duration in Go's format: `1s`, `6m0s`, `350ms`, `1h2m3.5s`. A plain number is milliseconds, as Azure sends:
 * recorded 500 for one request of 120 a minute, and 7 for 14 tokens of 120,000.
 */
function readDuration(text: string): number | undefined {
  const plain = readCount(text);
  if (plain !== undefined) return plain;
  if (!/^(\d{1,15}(\.\d+)?(ns|us|µs|ms|[smhd]))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, count, unit = ''] of text.matchAll(/([\d.]+)([a-zµ]+)/g)) {
    ms += Number(count) * (UNIT_MS[unit] ?? 0);
  }
  return ms;
}

/**
 * Parses the reset of a single allowance: Unix milliseconds (OpenRouter, "Limits", 2026-11), Unix seconds, or seconds
 * from now (Together, recorded with the same `retry-after`). The magnitude distinguishes them.
 */
function readMoment(text: string, nowMs: UnixMs): number | undefined {
  const count = readCount(text);
  if (count === undefined) return undefined;
  if (count >= 1e11) return count - nowMs;
  return count >= 1e9 ? count * 1000 - nowMs : count * 1000;
}

/** Encodes the gateway's own limits in the same headers (OpenAI, "Rate limits", 2026-11). */
export function encodeRateLimitHeaders({ atMs, requests, tokens }: LimitStates): Record<string, string> {
  const headers: Record<string, string> = {};
  const add = (of: string, state: LimitState | null): void => {
    if (!state) return;
    headers[`x-ratelimit-limit-${of}`] = String(state.amount);
    headers[`x-ratelimit-remaining-${of}`] = String(Math.floor(state.remaining));
    if (state.clearsAtMs !== null)
      headers[`x-ratelimit-reset-${of}`] = durationText(Math.max(0, Math.ceil(state.clearsAtMs - atMs)));
  };
  add('requests', requests);
  add('tokens', tokens);
  return headers;
}

/** Formats a duration as Go does, without zero units in front: `350ms`, `17.379s`, `6m0s`. */
function durationText(ms: number): string {
  if (ms < 1000) return `${ms}ms`;
  const seconds = `${(ms % 60_000) / 1000}s`;
  const minutes = Math.floor(ms / 60_000) % 60;
  const hours = Math.floor(ms / 3_600_000);
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
