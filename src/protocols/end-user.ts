// Opaque id of the client's end user, by which upstreams detect abuse: passed to upstreams of another protocol, or
// reported as dropped.
import type { CanonicalRequest, Report } from '../canonical/index.ts';

/** Name of the member in reports. Each client protocol maps it to its own name. */
const NAME = 'safety_identifier';

/**
 * Returns the id for an upstream of another protocol than the client's; undefined if there is none.
 * @param longest characters that the upstream accepts; a longer id is dropped, because a cut one could match another
 * user
 */
export function endUserFor(request: CanonicalRequest, longest: number, report: Report): string | undefined {
  const { endUser } = request;
  if (endUser === undefined || endUser.length <= longest) return endUser;
  report.add(NAME, 'dropped', `the upstream accepts user ids of at most ${longest} characters`);
  return undefined;
}

/** Reports that the protocol has no member for the id. @param reason why it is dropped */
export function dropEndUser(request: CanonicalRequest, reason: string, report: Report): void {
  if (request.endUser !== undefined) report.add(NAME, 'dropped', reason);
}
