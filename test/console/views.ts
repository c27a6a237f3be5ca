// Every page, panel and dialog of the console, on a gateway that has something of everything: for the pictures of them, and for the
// check of their layout.
import { madeBatch } from '../support/made-batch.ts';
import { eventually } from '../support/program.ts';
import { makeTraffic, NOBODY, PAPERS, type startBusyGateway } from './busy-gateway.ts';
import type { Looked } from './scene.ts';

type Busy = Awaited<ReturnType<typeof startBusyGateway>>;

export const PATIENCE_MS = 120_000;
/** Number of keys that were handed over, because a name is given once. */
let handedOver = 0;

/** Width and height: a phone, a tablet, a laptop, and a large screen. */
export const SIZES = [
  [390, 844],
  [768, 1024],
  [1440, 900],
  [2560, 1300],
] as const;

/** Gateway, ids and addresses that the views show. */
export interface Shown {
  readonly busy: Busy;
  /** Ids of a request that was rerouted, and of one whose stream broke. */
  readonly recovered: string;
  readonly broken: string;
  /** Id of a batch of which some lines failed, and others run. */
  readonly batch: string;
  /** Address of a webhook with deliveries. Nobody is there. */
  readonly webhook: string;
}

/** Makes what the views show. @param rounds of traffic */
export async function makeShown(busy: Busy, rounds: number): Promise<Shown> {
  await makeTraffic(busy, rounds);
  const { body } = await busy.gateway.manage('POST', '/keys', {
    name: 'colleague',
    budgets: [{ usd: 20, per: 'month' }],
  });
  await busy.ask('acme/small', String(body['key']), { stream: true });
  for (const model of ['acme/small', 'sim/chat', 'acme/large', 'sim/stall'])
    await fetch(`${busy.gateway.origin}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${PAPERS}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, input: 'Summarise the paper.', background: true }),
    });
  const lines = (model: string, many: number): string[] => Array.from({ length: many }, () => model);
  await madeBatch(busy.gateway, [...lines('acme/small', 120), 'nobody/knows'], PAPERS);
  await madeBatch(busy.gateway, lines('nobody/knows', 2), PAPERS);
  const batch = await madeBatch(
    busy.gateway,
    [
      ...lines('acme/small', 60),
      'acme/tiny',
      ...lines('sim/error-400', 6),
      ...lines('expired/one', 3),
      ...lines('acme/large', 30),
      ...lines('sim/stall', 12),
    ],
    PAPERS,
  );
  await eventually(
    'a batch whose other lines have ended',
    async () => {
      const { body } = await busy.gateway.manage('GET', `/batches/${batch}`);
      const { done = 0 } = (body['lines'] ?? {}) as { readonly done?: number };
      return done === 100;
    },
    PATIENCE_MS,
  );
  const found = async (query: string): Promise<string> => {
    const list = await busy.gateway.manage('GET', `/generations?limit=1&${query}`);
    return (list.body['data'] as { id: string }[])[0]?.id ?? '';
  };
  await busy.ask('acme/large', PAPERS, { stream: true });
  const recovered = (await found('state=recovered')) || (await found('state=failed'));
  const broken = await found('state=broken_stream');
  await busy.gateway.manage('POST', '/projects', { name: 'nightly' });
  const webhook = `http://${NOBODY}/hooks/of-the-platform-team`;
  const made = await busy.gateway.manage('POST', '/webhooks', { url: webhook });
  for (const type of ['budget.threshold_reached', 'webhook.test'])
    await busy.gateway.manage('POST', `/webhooks/${String(made.body['id'])}/test`, { type });
  return { busy, recovered, broken, batch, webhook };
}

/** Each with its address, and whether the manual shows it. */
export const PAGES: readonly (readonly [
  name: string,
  path: (shown: Shown) => string,
  isInManual?: boolean,
])[] = [
  ['overview', () => '', true],
  ['requests', () => '/requests', true],
  ['request', ({ recovered }) => `/requests?open=${recovered}`, true],
  ['request-broken', ({ broken }) => `/requests?open=${broken}`],
  ['request-page', ({ recovered }) => `/requests/${recovered}`],
  ['request-timeline', ({ recovered }) => `/requests/${recovered}?view=timeline`],
  ['request-routing', ({ recovered }) => `/requests/${recovered}?view=routing`],
  ['request-cost', ({ recovered }) => `/requests/${recovered}?view=cost`],
  ['request-changes', ({ recovered }) => `/requests/${recovered}?view=changes`],
  ['request-raw', ({ recovered }) => `/requests/${recovered}?view=raw`],
  ['usage', () => '/usage?range=7d', true],
  ['usage-end-users', () => '/usage?by=end_user'],
  ['providers', () => '/providers', true],
  ['provider', () => '/providers/downtown'],
  ['models', () => '/models'],
  ['model', () => '/model/acme/small'],
  ['keys', () => '/keys', true],
  ['key', () => '/keys/papers'],
  ['projects', () => '/keys?view=projects'],
  ['jobs', () => '/jobs', true],
  ['batches', () => '/batches', true],
  ['batch', ({ batch }) => `/batches/${batch}`, true],
  ['alerts', () => '/alerts'],
  ['settings', () => '/settings'],
  ['configuration', () => '/settings?view=configuration'],
  ['sessions', () => '/settings?view=sessions'],
  ['audit', () => '/settings?view=audit'],
  ['routing', () => '/routing'],
  ['what-if', () => '/routing?view=what-if'],
];

/** Dialogs and menus that a click opens on a page. */
export const OPENED: readonly (readonly [
  name: string,
  path: string,
  open: (looked: Looked, shown: Shown) => Promise<void>,
])[] = [
  ['new-key', '/keys', ({ page }) => page.getByRole('button', { name: 'New key' }).first().click()],
  [
    'hand-over',
    '/keys',
    async ({ page }) => {
      await page.getByRole('button', { name: 'New key' }).first().click();
      // A name is given once.
      await page.getByLabel('Name', { exact: true }).fill(`colleague ${(handedOver += 1)}`);
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('button', { name: 'Copy key' }).waitFor();
    },
  ],
  [
    'new-project',
    '/keys?view=projects',
    ({ page }) => page.getByRole('button', { name: 'New project' }).click(),
  ],
  [
    'cancel-batch',
    '/batches',
    async ({ page }, { busy }) => {
      // Another each time: lines that stall end meanwhile.
      const running = await madeBatch(busy.gateway, ['acme/small', 'sim/stall'], PAPERS);
      await page.getByRole('button', { name: `Actions for ${running}` }).click();
      await page.getByRole('menuitem', { name: 'Cancel…' }).click();
    },
  ],
  ['rotate-key', '/keys', (looked) => openActions(looked, 'colleague', 'Rotate…')],
  ['change-key', '/keys', (looked) => openActions(looked, 'colleague', 'Change…')],
  ['revoke-key', '/keys', (looked) => openActions(looked, 'colleague', 'Revoke…')],
  [
    'deliveries',
    '/alerts',
    async ({ page }, { webhook }) => {
      await page.getByRole('button', { name: `Actions for ${webhook}` }).click();
      await page.getByRole('menuitem', { name: 'Deliveries…' }).click();
      await page.getByRole('dialog').getByRole('row').nth(1).waitFor();
    },
  ],
  [
    'delete-webhook',
    '/alerts',
    async ({ page }, { webhook }) => {
      await page.getByRole('button', { name: `Actions for ${webhook}` }).click();
      await page.getByRole('menuitem', { name: 'Delete…' }).click();
    },
  ],
  ['change-project', '/keys?view=projects', (looked) => openActions(looked, 'nightly', 'Change…')],
  ['new-webhook', '/alerts', ({ page }) => page.getByRole('button', { name: 'New webhook' }).click()],
  ['probe', '/providers/cheapllm', ({ page }) => page.getByRole('button', { name: 'Probe now…' }).click()],
  ['disable', '/providers/cheapllm', ({ page }) => page.getByRole('button', { name: 'Disable…' }).click()],
  ['add-provider', '/providers', ({ page }) => page.getByRole('button', { name: 'Add provider' }).click()],
  ['range', '/usage', ({ page }) => page.getByRole('button', { name: /^Time:/ }).click()],
  ['search', '', ({ page }) => page.keyboard.press('Control+k')],
  ['keyboard', '', ({ page }) => page.keyboard.press('?')],
  [
    'filter',
    '/requests',
    async ({ page }) => {
      await page.getByRole('button', { name: 'Filter', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Status' }).click();
    },
  ],
];

/** Opens a dialog from the menu of a row. */
async function openActions({ page }: Looked, of: string, entry: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${of}`, exact: true }).click();
  await page.getByRole('menuitem', { name: entry }).click();
}
