// Barriers of a page, as axe-core finds them: all rules of WCAG A and AA up to 2.2, and what its authors recommend.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * Every finding. It is evaluated as the page's debugger would: the page's own policy allows no script.
 * @param within selector of the part that is looked at
 */
export async function barriers(page: Page, within = 'html'): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  return page.evaluate(
    async ([part, tags]) => {
      const { axe } = window as unknown as {
        axe: {
          run: (
            part: string,
            options: object,
          ) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
        };
      };
      const { violations } = await axe.run(part, { runOnly: { type: 'tag', values: tags } });
      return violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`,
      );
    },
    [within, TAGS] as const,
  );
}

/** Shows a page to somebody who has set this scheme. The page receives it a moment later; resolves when its colours have changed. */
export async function showIn(page: Page, colorScheme: 'dark' | 'light'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  const isReceived = (): Promise<boolean> =>
    page.evaluate((scheme) => matchMedia(`(prefers-color-scheme: ${scheme})`).matches, colorScheme);
  while (!(await isReceived()));
  await page.evaluate(async () => {
    const changes = document.getAnimations().filter((each) => each instanceof CSSTransition);
    await Promise.allSettled(changes.map(({ finished }) => finished));
  });
}

/** Tables that are wider than their boxes. Runs in the page. */
export function cutTables(): readonly string[] {
  return [...document.querySelectorAll('table')]
    .filter((table) => table.scrollWidth > (table.parentElement?.clientWidth ?? 0) + 1)
    .filter((table) => !table.closest('[tabindex="0"]'))
    .map((table) => table.ariaLabel ?? '');
}
