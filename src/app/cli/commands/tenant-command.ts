// Shared code of the commands for keys and projects.
import type { Tenants } from '../../../accounts/auth/index.ts';
import type { Config } from '../../config/index.ts';
import type { PageRequest } from '../../../accounts/ports/index.ts';
import type { Arguments } from '../command.ts';
import { openStorage } from '../compose/open-storage.ts';
import { openTenants } from '../compose/open-tenants.ts';
import type { UnixMs } from '../../../base/units.ts';

/** Actor of changes made on the command line. */
export const COMMAND = { actor: { id: 'operator', name: 'command line', address: null }, requestId: null };

/** Entries per page. */
const PAGE = 1_000;

/** Runs an action on the data directory of the arguments. @returns the exit code */
export async function withTenants(
  args: Arguments,
  action: (tenants: Tenants, config: Config) => Promise<void>,
): Promise<number> {
  const { config } = args.load();
  const storage = await openStorage(config, (sentence) => void process.stderr.write(`${sentence}\n`));
  try {
    await action(await openTenants(storage, () => config, Date.now, COMMAND), config);
  } finally {
    await storage.close();
  }
  return 0;
}

/** All entries of a list, read page by page. */
export async function everyPage<Entry extends { readonly id: string }>(
  read: (
    page: Pick<PageRequest, 'after' | 'limit'>,
  ) => Promise<{ readonly entries: readonly Entry[]; readonly hasMore: boolean }>,
): Promise<readonly Entry[]> {
  const all: Entry[] = [];
  for (let hasMore = true; hasMore;) {
    const page = await read({ after: all.at(-1)?.id, limit: PAGE });
    all.push(...page.entries);
    hasMore = page.hasMore && page.entries.length > 0;
  }
  return all;
}

/** The day, in UTC. */
export function dateText(unixMs: UnixMs): string {
  return new Date(unixMs).toISOString().slice(0, 10);
}
