// The system's Chromium, for what is only true when a browser shows it; and what it complains of.
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const CHROMIUM = process.env['DRAGOMAN_CHROMIUM'] ?? '/usr/bin/chromium';

/** True when this machine has one. A line reports a missing one. */
export const HAS_BROWSER = existsSync(CHROMIUM);
if (!HAS_BROWSER) console.warn(`skipped: there is no browser at ${CHROMIUM} (DRAGOMAN_CHROMIUM names one)`);

/** A busy machine takes its time to draw. In milliseconds. */
export const SLOW = 30_000;

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
}

/**
 * Listens to a page from now on.
 * @param origin the only place that it may ask
 * @returns grows with whatever the browser complains of: errors, what a policy forbids, and addresses elsewhere
 */
export function consoleErrorsOf(page: Page, origin: string): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(`${origin}/`))
      complaints.push(`asked for ${request.url()}`);
  });
  return complaints;
}
