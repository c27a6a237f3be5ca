// The documentation site at `/docs/guide`, as built by `npm run pack`. Files are read from disk or from the executable
// on each request. The page must not load anything from elsewhere.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatewayError } from '../../canonical/index.ts';

const SITE = fileURLToPath(new URL('../../../dist/docs', import.meta.url));
const BASE = '/docs/guide';
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  png: 'image/png',
};

/** True for paths that `guidePage` serves. */
export function isGuide(path: string): boolean {
  return path === BASE || path.startsWith(`${BASE}/`);
}

/**
 * A page of the site or one of its files.
 * @param folder folder of the site, for tests
 * @throws GatewayError `not_found`
 */
export async function guidePage(path: string, folder = SITE): Promise<Response> {
  const name = path.slice(BASE.length + 1) || 'index';
  const file = /\.\w+$/.test(name) ? name : `${name}.html`;
  const type = TYPES[file.slice(file.lastIndexOf('.') + 1)];
  const isPlain = /^[\w-]+(?:\/[\w-]+)*\.\w+$/.test(file);
  const bytes = isPlain && type !== undefined ? await readFile(join(folder, file)).catch(() => null) : null;
  if (bytes === null || type === undefined)
    throw new GatewayError(
      'not_found',
      `Page ${path.slice(0, 200)} not found. In a checkout, run \`npm run pack\` to build the documentation.`,
    );
  return new Response(new Uint8Array(bytes), {
    headers: {
      'content-type': type,
      'content-security-policy': POLICY,
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
    },
  });
}
