// Headers of an error answer, completed by what other headers and the time of arrival imply.
import type { Clock } from '../../base/runtime/clock.ts';
import type { UpstreamCodec } from '../../protocols/index.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';

/** Returns a reader of headers by lower-case name. */
export function errorHeaders(
  head: ResponseHead,
  codec: Pick<UpstreamCodec, 'decodeLimits'>,
  clock: Pick<Clock, 'now' | 'wall'>,
): (name: string) => string | null {
  const given = (name: string): string | null => head.header(name);
  return (name) => {
    const value = given(name);
    if (value !== null) return value;
    // An answer without a date has that of its arrival (RFC 9110, 6.6.1). `retry-after` may refer to it.
    if (name === 'date') return new Date(clock.wall()).toUTCString();
    // A refusal without `retry-after` lasts until the announced limit that is used up resets.
    if (name !== 'retry-after-ms' || head.status !== 429 || given('retry-after') !== null) return null;
    const limits = codec.decodeLimits?.(given, clock.now());
    return limits?.remaining === 0 ? String(Math.max(0, Math.ceil(limits.resetMs))) : null;
  };
}
