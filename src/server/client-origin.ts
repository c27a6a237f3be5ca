// Origin at which a client reaches the gateway, derived from its request.

/** True for HTTPS, also if a proxy terminates TLS. A client that forges the header only deceives itself. */
export function isSecure(request: Request): boolean {
  return request.url.startsWith('https:') || request.headers.get('x-forwarded-proto') === 'https';
}

/** Scheme and host, e.g. `https://gateway.example`. */
export function clientOrigin(request: Request): string {
  return `${isSecure(request) ? 'https' : 'http'}://${new URL(request.url).host}`;
}
