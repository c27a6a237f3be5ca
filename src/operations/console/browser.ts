// Browser security: the policy of the page, the cookie, and the check of the site from which a request comes.
// Knows no session.
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { isSecure } from '../../server/client-origin.ts';

/** A header that scripts of other sites cannot set (https://cheatsheetseries.owasp.org, Cross-Site Request Forgery). */
export const CSRF_HEADER = 'x-csrf-token';
const NAME = 'dragoman_console';
/** Under TLS: only for this host, set by nobody else, and never sent without TLS (RFC 6265bis, "Cookie Name Prefixes"). */
const SECURE_NAME = `__Host-${NAME}`;
/** As the longest session. */
const COOKIE_SECONDS = 12 * 3_600;

/** Everything comes from here, nothing stands in the page itself, and nobody shows it in a frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
} as const;

/** The token in a request's cookie; null where it has none. */
export function tokenOf(request: Request): string | null {
  const name = `${isSecure(request) ? SECURE_NAME : NAME}=`;
  const cookies = request.headers.get('cookie')?.split(';') ?? [];
  const found = cookies.map((each) => each.trim()).find((each) => each.startsWith(name));
  return found?.slice(name.length) || null;
}

/** Never for scripts, never from another site, and under TLS for no other host. */
export function setCookie(request: Request, token: string): string {
  return cookie(request, token, COOKIE_SECONDS);
}

export function clearCookie(request: Request): string {
  return cookie(request, '', 0);
}

function cookie(request: Request, token: string, seconds: number): string {
  const rest = `Max-Age=${seconds}; HttpOnly; SameSite=Strict`;
  return isSecure(request)
    ? `${SECURE_NAME}=${token}; Path=/; ${rest}; Secure`
    : `${NAME}=${token}; Path=/console; ${rest}`;
}

/**
 * Browsers say from where a script or form asks (https://www.w3.org/TR/fetch-metadata/); other programs say nothing.
 * @throws GatewayError `permission` for another site
 */
export function refuseOtherSites(request: Request): void {
  const site = request.headers.get('sec-fetch-site');
  if (site === 'same-origin' || site === 'none') return;
  const origin = request.headers.get('origin');
  // Browsers leave the first one out where there is no TLS.
  if (site === null && (origin === null || isAt(origin, new URL(request.url).host))) return;
  throw new GatewayError('permission', TEXTS.ownPageOnly, { code: 'cross_site' });
}

/** True where a browser says that a page of this very origin asks: the same scheme, host and port. */
export function isOwnPage(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  const origin = request.headers.get('origin');
  return origin !== null && isAt(origin, new URL(request.url).host);
}

function isAt(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host;
}
