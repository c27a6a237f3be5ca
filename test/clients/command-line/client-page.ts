// Reads settings from the pages in docs/clients, so that what is tested is what is written there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestGateway } from '../../support/harness.ts';

/** The text of a client's page. */
export function clientPage(name: string): string {
  return readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'clients', `${name}.md`), 'utf8');
}

/**
 * A block of settings as it stands on a page, for this gateway and model.
 * @param language of the block; its `index`-th, from 0
 */
export function pageSettings(
  name: string,
  language: string,
  target: { readonly gateway: TestGateway; readonly model: string; readonly index?: number },
): string {
  const blocks = [
    ...clientPage(name).matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm')),
  ];
  const text = blocks[target.index ?? 0]?.[1];
  if (text === undefined) throw new Error(`docs/clients/${name}.md has no such block of ${language}`);
  return text.replaceAll('http://127.0.0.1:4000', target.gateway.origin).replaceAll('sim/chat', target.model);
}

/** Variables that the lines `export NAME=value` of a block set. */
export function exportedVariables(block: string, key: string): Record<string, string> {
  const lines = [...block.matchAll(/^export (\w+)=(.*)$/gm)];
  return Object.fromEntries(
    lines.map(([, name = '', value = '']) => [name, value === '"$DRAGOMAN_KEY"' ? key : value]),
  );
}
