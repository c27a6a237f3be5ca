// The stores of a PostgreSQL database, one line each.
import { KeyRows } from '../state/keys.ts';
import { ProjectRows } from '../state/projects.ts';
import { postgresAlerts } from './alerts.ts';
import { postgresAudit } from './audit.ts';
import { postgresBlobs } from './blobs.ts';
import { greatestChange } from './changes.ts';
import { PostgresConversations } from './conversations.ts';
import { DELETION_MIGRATIONS } from './deletions.ts';
import { PostgresFiles } from './files.ts';
import { postgresFindings } from './findings.ts';
import { postgresNotices } from './notices.ts';
import { postgresPayloads } from './payloads.ts';
import { PostgresPrompts } from './prompts.ts';
import { PostgresLedger } from './records/ledger.ts';
import { RECORD_MIGRATIONS } from './records/record-tables.ts';
import { PostgresResponses } from './responses.ts';
import type { PostgresBase, PostgresStore } from './store.ts';
import { transactOf } from './transact.ts';
import { PostgresUsage } from './usage/usage.ts';
import { USAGE_MIGRATIONS } from './usage/usage-tables.ts';
import { PostgresVault } from './vault.ts';

export type PostgresStores = Readonly<Record<string, PostgresStore<unknown>>>;

/** What these stores are when they are open. */
export type OpenStores<S extends PostgresStores> = { readonly [K in keyof S]: ReturnType<S[K]['open']> };

export const STORES = {
  audit: postgresAudit,
  keys: { open: (base) => new KeyRows(base.db, transactOf(base), greatestChange(base.db, 'keys')) },
  projects: {
    open: (base) => new ProjectRows(base.db, transactOf(base), greatestChange(base.db, 'projects')),
  },
  vault: { open: ({ db }) => new PostgresVault(db) },
  responses: { migrations: DELETION_MIGRATIONS, open: (base) => new PostgresResponses(base) },
  conversations: { open: (base) => new PostgresConversations(base) },
  prompts: { open: (base) => new PostgresPrompts(base) },
  files: { open: (base) => new PostgresFiles(base) },
  alerts: postgresAlerts,
  blobs: postgresBlobs,
  findings: postgresFindings,
  notices: postgresNotices,
  payloads: postgresPayloads,
  ledger: {
    migrations: [...RECORD_MIGRATIONS, ...USAGE_MIGRATIONS],
    open: (base) => new PostgresLedger(base),
  },
  usage: { open: (base) => new PostgresUsage(base) },
  stateUsage: { open: ({ usage }) => usage },
} satisfies PostgresStores;

export function openStores<S extends PostgresStores>(stores: S, base: PostgresBase): OpenStores<S> {
  const open = Object.entries(stores).map(([name, store]) => [name, store.open(base)] as const);
  return Object.fromEntries(open) as OpenStores<S>;
}
