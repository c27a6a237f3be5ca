// The opaque id of whom the client answers for, by which an upstream recognises abuse: what becomes of it in a protocol
// that the client does not speak. Knows no body.
import type { CanonicalRequest, Report } from '../canonical/index.ts';

/** The member's name in reports; each client's own stands in its table of names. */
const NAME = 'safety_identifier';

/**
 * The id for an upstream of another protocol than the client's; undefined without one.
 * @param longest most characters that the upstream takes; an id that was cut would be another user's
 */
export function endUserFor(request: CanonicalRequest, longest: number, report: Report): string | undefined {
  const { endUser } = request;
  if (endUser === undefined || endUser.length <= longest) return endUser;
  report.add(NAME, 'dropped', `the upstream takes ids of users of at most ${longest} characters`);
  return undefined;
}

/** Reports the id for a protocol that has no place for it. @param reason why not */
export function dropEndUser(request: CanonicalRequest, reason: string, report: Report): void {
  if (request.endUser !== undefined) report.add(NAME, 'dropped', reason);
}
