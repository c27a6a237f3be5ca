// A gateway whose console is looked at in the system's Chromium: as somebody sees it who is signed in, or not. Whatever the
// browser complains of (errors, what its policy forbids, addresses elsewhere) fails the test that asks for it.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core';
import { consoleErrorsOf, SLOW, startBrowser } from '../support/browser.ts';
import { ADMIN_KEY, type ManagedGateway, startManaged } from '../support/management/scene.ts';
import { eventually } from '../support/program.ts';

export { HAS_BROWSER, SLOW } from '../support/browser.ts';

/** Folder for the pictures of a run. Undefined: it makes none. */
const PICTURES = process.env['DRAGOMAN_PICTURES'];

/** A page without a request for so long is at rest. */
const QUIET_MS = 300;

/** Would tell if it ran: a page may have nothing of this name. */
export const XSS = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The page itself with what it loads, and who is signed in. */
const OWN = /^(?:GET \/console(?:\/.*)?|(?:POST|DELETE) \/console\/session(?:\/token)?)$/;

export interface Looked {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Complaints of the browser; none of them is meant to be. */
  readonly complaints: string[];
  /** Requests to the gateway that are no operation of `/openapi.json`: only the console could make them. */
  undescribed(): Promise<readonly string[]>;
  /** Waits until nothing is asked any more, but for the stream of what happens, which never ends. */
  idle(): Promise<void>;
  /** Goes to a page below `/console`, and waits for its heading. */
  open(path: string, heading: string): Promise<void>;
  /** Keeps a picture of the page as it is, where DRAGOMAN_PICTURES names a folder. */
  picture(name: string): Promise<void>;
}

export interface Windows {
  /** A window of its own. @param as `admin` signs in first */
  look(as: 'admin' | 'stranger', options?: BrowserContextOptions): Promise<Looked>;
  close(): Promise<void>;
}

export interface ConsoleScene extends Windows {
  readonly gateway: ManagedGateway;
}

/** Starts both. @param config of the gateway; its admin has `ADMIN_KEY` */
export async function startConsole(
  config: Parameters<typeof startManaged>[0] = {},
  options?: Parameters<typeof startManaged>[1],
): Promise<ConsoleScene> {
  const gateway = await startManaged(config, options);
  const windows = await openWindows(gateway.origin);
  return {
    ...windows,
    gateway,
    async close() {
      await windows.close();
      await gateway.close();
    },
  };
}

/** Starts a browser. @param origin of a gateway whose admin has `ADMIN_KEY` */
export async function openWindows(origin: string): Promise<Windows> {
  const browser = await startBrowser();
  return {
    async look(as, options = {}) {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        permissions: ['clipboard-read', 'clipboard-write'],
        ...options,
      });
      const page = await context.newPage();
      const looked = watched(origin, context, page);
      if (as === 'admin') await signIn(origin, page);
      return looked;
    },
    close: () => browser.close(),
  };
}

/** Signs in as a person does. */
export async function signIn(origin: string, page: Page, key = ADMIN_KEY): Promise<void> {
  await page.goto(`${origin}/console`);
  await page.getByLabel('Admin key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

function watched(origin: string, context: BrowserContext, page: Page): Looked {
  const complaints = consoleErrorsOf(page, origin);
  const asked = new Set<string>();
  page.on('request', (request) => {
    const { protocol, pathname } = new URL(request.url());
    if (protocol.startsWith('http')) asked.add(`${request.method()} ${pathname}`);
  });
  let last = performance.now();
  const running = new Set<Request>();
  page.on('request', (request) => {
    if (!request.url().includes('/events?')) running.add(request);
  });
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(end as 'requestfinished', (request) => {
      running.delete(request);
      last = performance.now();
    });
  return {
    page,
    context,
    complaints,
    async idle() {
      await eventually(
        'a page that asks no more',
        () => running.size === 0 && performance.now() - last > QUIET_MS,
        SLOW,
      );
    },
    async undescribed() {
      const { paths } = (await (await fetch(`${origin}/openapi.json`)).json()) as OpenApi;
      const described = Object.entries(paths).flatMap(([path, item]) =>
        Object.keys(item).map(
          // Ids of models hold slashes.
          (method) => new RegExp(`^${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '.+')}$`),
        ),
      );
      return [...asked]
        .map((each) => each.replace(' /console/api/', ' /'))
        .filter((each) => !OWN.test(each) && !described.some((operation) => operation.test(each)));
    },
    async open(path, heading) {
      await page.goto(`${origin}/console${path}`);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    },
    async picture(name) {
      if (PICTURES === undefined) return;
      mkdirSync(PICTURES, { recursive: true });
      await page.screenshot({ path: join(PICTURES, `${name}.png`), animations: 'disabled' });
    },
  };
}
