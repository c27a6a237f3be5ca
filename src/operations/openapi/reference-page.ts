// The API reference page and its files. All are served from here, and the page must not load anything from elsewhere.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatewayError } from '../../canonical/index.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // Swagger UI sets inline styles.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Dragoman API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="icon" href="data:,">
  </head>
  <body>
    <main id="reference"></main>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** Disables the online validator, which would receive the document's URL. */
const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  validatorUrl: null,
});
`;

const SCRIPT = 'text/javascript; charset=utf-8';
/** Files of the package that the page loads. */
const PACKED: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': SCRIPT,
};

/** The page or one of its files. @param path requested path @throws GatewayError `not_found` */
export async function referencePage(path: string): Promise<Response> {
  if (path === '/docs' || path === '/docs/') return answer(PAGE, 'text/html; charset=utf-8');
  const name = path.slice('/docs/'.length);
  if (name === 'start.js') return answer(START, SCRIPT);
  const type = Object.hasOwn(PACKED, name) ? PACKED[name] : undefined;
  if (type === undefined) throw new GatewayError('not_found', `${path.slice(0, 200)} not found.`);
  // Removes references to source maps, which are not served.
  const text = await readFile(join(packageFolder(), name), 'utf8');
  return answer(text.replace(/\n\/[/*]# sourceMappingURL=.*$/s, '\n'), type);
}

function packageFolder(): string {
  return dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
}

function answer(text: string, type: string): Response {
  return new Response(text, {
    headers: {
      'content-type': type,
      'content-security-policy': POLICY,
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
    },
  });
}
