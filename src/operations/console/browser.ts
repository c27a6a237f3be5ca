// Browser security of the console: content security policy, session cookie, and the check for cross-site requests.
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { isSecure } from '../../server/client-origin.ts';

/**
 * A custom header, which other sites' scripts cannot set (https://cheatsheetseries.owasp.org, Cross-Site Request
 * Forgery).
 */
export const CSRF_HEADER = 'x-csrf-token';
const NAME = 'dragoman_console';
/** Cookie name under TLS: bound to this host, and only sent over TLS (RFC 6265bis, "Cookie Name Prefixes"). */
const SECURE_NAME = `__Host-${NAME}`;
/** Maximum duration of a session. */
const COOKIE_SECONDS = 12 * 3_600;

/** Resources only from this origin, no inline code, no framing. */
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

/** Session token from the request's cookie; null: none. */
export function tokenOf(request: Request): string | null {
  const name = `${isSecure(request) ? SECURE_NAME : NAME}=`;
  const cookies = request.headers.get('cookie')?.split(';') ?? [];
  const found = cookies.map((each) => each.trim()).find((each) => each.startsWith(name));
  return found?.slice(name.length) || null;
}

/** `Set-Cookie` value: HttpOnly, same-site, and host-bound under TLS. */
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
 * Browsers report the origin of a request (https://www.w3.org/TR/fetch-metadata/); other clients do not.
 * @throws GatewayError `permission` for another site
 */
export function refuseOtherSites(request: Request): void {
  const site = request.headers.get('sec-fetch-site');
  if (site === 'same-origin' || site === 'none') return;
  const origin = request.headers.get('origin');
  // Browsers omit `Sec-Fetch-Site` without TLS.
  if (site === null && (origin === null || isAt(origin, new URL(request.url).host))) return;
  throw new GatewayError('permission', TEXTS.ownPageOnly, { code: 'cross_site' });
}

/** True if the browser reports the same origin: scheme, host and port. */
export function isOwnPage(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  const origin = request.headers.get('origin');
  return origin !== null && isAt(origin, new URL(request.url).host);
}

function isAt(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host;
}
