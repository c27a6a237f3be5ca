// Headers of every answer of the gateway: request id, remaining limits, and losses in translation.
import type { Report } from '../../canonical/index.ts';
import { encodeRateLimitHeaders } from '../../protocols/index.ts';
import type { Attempt } from '../attempt/index.ts';
import type { Arrival } from '../call.ts';

/** Maximum characters of one header. */
const LONGEST = 4000;
const NOT_VISIBLE_ASCII = /[^\x20-\x7e]/;

/** Replaces characters outside visible ASCII, because models and fields may have names in any script. */
export function headerText(text: string): string {
  // Testing first is cheaper than a replacement without matches.
  const shown = NOT_VISIBLE_ASCII.test(text) ? text.replaceAll(/[^\x20-\x7e]/g, '?') : text;
  return shown.slice(0, LONGEST);
}

/**
 * @param attempts number of attempts so far
 * @param described the attempt to describe. Undefined: the serving endpoint is not known yet
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
