// The stores of a database, one line each.
import { sqliteAlerts } from './alerts.ts';
import { auditStore } from './audit.ts';
import { SqliteConversations } from './conversations.ts';
import { SqliteFiles } from './files.ts';
import { KeyRows } from '../state/keys.ts';
import { SqliteLedger } from './ledger.ts';
import { sqlitePayloads } from './payloads.ts';
import { ProjectRows } from '../state/projects.ts';
import { greatestChange } from './changes.ts';
import { SqlitePrompts } from './prompts.ts';
import { RESPONSES_MIGRATIONS, SqliteResponses } from './responses.ts';
import type { SqliteBase, SqliteStore } from './store.ts';
import { transactOf } from './transact.ts';
import { SqliteVault } from './vault.ts';
import { PASSING_MIGRATIONS } from './usage/passing-records.ts';
import { SqliteUsage } from './usage/usage.ts';
import { USAGE_MIGRATIONS } from './usage/usage-tables.ts';

export type SqliteStores = Readonly<Record<string, SqliteStore<unknown>>>;

/** What these stores are when they are open. */
export type OpenStores<S extends SqliteStores> = { readonly [K in keyof S]: ReturnType<S[K]['open']> };

export const STORES = {
  audit: auditStore,
  ledger: {
    migrations: [...USAGE_MIGRATIONS, ...PASSING_MIGRATIONS],
    open: (base) => new SqliteLedger(base),
  },
  usage: { open: (base) => new SqliteUsage(base) },
  keys: { open: (base) => new KeyRows(base.db, transactOf(base), greatestChange(base, 'keys')) },
  projects: { open: (base) => new ProjectRows(base.db, transactOf(base), greatestChange(base, 'projects')) },
  vault: { open: (base) => new SqliteVault(base) },
  responses: { migrations: RESPONSES_MIGRATIONS, open: (base) => new SqliteResponses(base) },
  conversations: { open: (base) => new SqliteConversations(base) },
  prompts: { open: (base) => new SqlitePrompts(base) },
  files: { open: (base) => new SqliteFiles(base) },
  alerts: sqliteAlerts,
  payloads: sqlitePayloads,
  stateUsage: { open: ({ usage }) => usage },
} satisfies SqliteStores;

export function openStores<S extends SqliteStores>(stores: S, base: SqliteBase): OpenStores<S> {
  const open = Object.entries(stores).map(([name, store]) => [name, store.open(base)] as const);
  return Object.fromEntries(open) as OpenStores<S>;
}
