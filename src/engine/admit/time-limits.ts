// The limits of time of one request: the operator's, shortened by what the request asks for in its headers or body.
import { GatewayError, type Report, type TimeLimits } from '../../canonical/index.ts';
import type { Timeouts } from '../settings.ts';

const NAMES = ['totalMs', 'firstTokenMs', 'idleMs'] as const;

const HEADERS = {
  totalMs: 'x-dragoman-timeout-ms',
  firstTokenMs: 'x-dragoman-first-token-timeout-ms',
  idleMs: 'x-dragoman-idle-timeout-ms',
} as const satisfies Record<keyof TimeLimits, string>;

const MEMBERS = {
  totalMs: 'provider.timeout_ms',
  firstTokenMs: 'provider.first_token_timeout_ms',
  idleMs: 'provider.idle_timeout_ms',
} as const satisfies Record<keyof TimeLimits, string>;

/**
 * The shortest of what header, body and operator say; a longer wish than the operator's is reported as clamped.
 * Throws GatewayError `invalid_request` for a header that is no whole number of milliseconds.
 */
export function timeLimits(
  operators: Timeouts,
  asked: TimeLimits | undefined,
  header: (name: string) => string | null,
  report: Report,
): Timeouts {
  let limits: { -readonly [Name in keyof Timeouts]: Timeouts[Name] } | undefined;
  for (const name of NAMES) {
    const inHeader = readHeader(HEADERS[name], header);
    const wish = Math.min(inHeader ?? Infinity, asked?.[name] ?? Infinity);
    if (wish === Infinity) continue;
    if (wish > operators[name]) {
      const path = inHeader === undefined ? MEMBERS[name] : HEADERS[name];
      report.add(path, 'clamped', `the operator's limit is ${operators[name]} ms`);
      continue;
    }
    limits ??= { ...operators };
    limits[name] = wish;
  }
  return limits ?? operators;
}

function readHeader(name: string, header: (name: string) => string | null): number | undefined {
  const text = header(name);
  if (text === null) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value >= 1) return value;
  throw new GatewayError('invalid_request', `${name}: must be a whole number of milliseconds, at least 1`, {
    param: name,
  });
}
