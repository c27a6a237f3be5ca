// The headers that every answer of the gateway carries: whose it is, what is left of its limits, and what was
// lost on its way.
import type { Report } from '../../canonical/index.ts';
import { encodeRateLimitHeaders } from '../../protocols/index.ts';
import type { Arrival } from '../call.ts';
import type { Attempt } from '../attempt/index.ts';

/** Characters of one header. */
const LONGEST = 4000;
const UNSHOWABLE = /[^\x20-\x7e]/;

/** Models and fields may have names in any script; a header takes visible ASCII only. */
export function headerText(text: string): string {
  // Most text is: to look first costs less than to replace nothing.
  const shown = UNSHOWABLE.test(text) ? text.replaceAll(/[^\x20-\x7e]/g, '?') : text;
  return shown.slice(0, LONGEST);
}

/**
 * @param attempts how many there were so far
 * @param described the attempt they speak of; undefined while it is not known who will serve
 */
export function answerHeaders(
  { id, call, quota }: Arrival,
  attempts: number,
  described: Attempt | undefined,
  report: Report,
): Record<string, string> {
  const headers: Record<string, string> = described
    ? {
        'x-request-id': id,
        'request-id': id,
        'x-dragoman-attempts': String(attempts),
        'x-dragoman-provider': described.endpoint.provider,
        'x-dragoman-model': headerText(described.endpoint.modelId),
        'x-dragoman-lane': described.lane,
      }
    : { 'x-request-id': id, 'request-id': id, 'x-dragoman-attempts': String(attempts) };
  const left = quota?.left();
  if (left) Object.assign(headers, (call.protocol.server.encodeLimits ?? encodeRateLimitHeaders)(left));
  if (report.size > 0) headers['x-dragoman-report'] = headerText(report.header());
  return headers;
}
