// The page that shows the description: all that it loads is sent by the gateway, and nothing may be loaded from elsewhere.
import { afterAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGateway } from '../../../support/harness.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const get = (path: string) => fetch(gateway.origin + path);

test('everything that the page loads comes from the gateway, and its policy allows nothing else', async () => {
  const response = await get('/docs');
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
  const html = await response.text();
  // No script in the page itself, which the policy would forbid.
  expect(html.match(/<script(?![^>]*\ssrc=)/)).toBeNull();
  const loaded = [...html.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address);
  expect(loaded.length).toBeGreaterThan(3);
  for (const address of loaded.filter((each) => each !== 'data:,')) {
    expect(address).toStartWith('/docs/');
    const file = await get(address);
    expect(file.status).toBe(200);
    expect(file.headers.get('x-content-type-options')).toBe('nosniff');
    expect(file.headers.get('content-security-policy')).toBe(policy);
    const text = await file.text();
    expect(text).not.toContain('sourceMappingURL');
    if (!address.endsWith('.css')) continue;
    for (const [, target = ''] of text.matchAll(/url\(\s*["']?([^"')]*)/g))
      expect(target).toStartWith('data:');
    expect(text).not.toContain('@import');
  }
  const start = await (await get('/docs/start.js')).text();
  expect(start).toContain("url: '/openapi.json'");
  // By default the package sends the address of the description to its maker.
  expect(start).toContain('validatorUrl: null');
});

test('no other path exists below it', async () => {
  for (const path of [
    '/docs/package.json',
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/constructor',
  ])
    expect((await get(path)).status).toBe(404);
});

test('its package does not report its installation', () => {
  const text = readFileSync(join(import.meta.dir, '..', '..', '..', '..', 'package.json'), 'utf8');
  expect(JSON.parse(text)).toMatchObject({ scarfSettings: { enabled: false } });
});
