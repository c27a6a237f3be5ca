// The address at which a client reaches the gateway, as far as its request says it.

/** A proxy that ends TLS says so. Whoever lies about it misleads themselves alone. */
export function isSecure(request: Request): boolean {
  return request.url.startsWith('https:') || request.headers.get('x-forwarded-proto') === 'https';
}

/** Scheme and host, e.g. `https://gateway.example`. */
export function clientOrigin(request: Request): string {
  return `${isSecure(request) ? 'https' : 'http'}://${new URL(request.url).host}`;
}
