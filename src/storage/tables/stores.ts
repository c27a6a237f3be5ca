// All stores: one line for each that both databases have, and those only PostgreSQL has, which several machines share.
import { alerts } from './operations/alerts.ts';
import { audit } from './accounts/audit.ts';
import { batches } from './jobs/batches.ts';
import { blobs } from './files/blobs.ts';
import { conversations } from './state/conversations.ts';
import type { SharedDatabase, StateDatabase, Store } from './database.ts';
import { files } from './files/files.ts';
import { findings } from './operations/findings.ts';
import { interruptedTries } from './jobs/interrupted-tries.ts';
import { jobs } from './jobs/jobs.ts';
import { keys } from './accounts/keys.ts';
import { ledger } from '../ledger/ledger.ts';
import { usage } from '../ledger/usage.ts';
import { managementAnswers } from './operations/management-answers.ts';
import { notices } from './installation/notices.ts';
import { payloads } from './operations/payloads.ts';
import { projects } from './accounts/projects.ts';
import { prompts } from './state/prompts.ts';
import { replicas } from './installation/replicas.ts';
import { responses } from './state/responses.ts';
import { stateUsage } from './state/state-usage.ts';
import type { SchemaParts } from './schema.ts';
import { SETTINGS } from './installation/settings.ts';
import type { Table } from './table.ts';
import { uploads } from './files/uploads.ts';
import { vault } from './state/vault.ts';
import { webhooks } from './operations/webhooks.ts';

/** Stores by name. @typeParam On database that they need */
export type Stores<On extends StateDatabase = StateDatabase> = Readonly<Record<string, Store<unknown, On>>>;

/** Stores of both databases. */
export const STATE_STORES = {
  audit,
  keys,
  projects,
  vault,
  responses,
  conversations,
  prompts,
  files,
  uploads,
  jobs,
  batches,
  alerts,
  webhooks,
  payloads,
  managementAnswers,
  stateUsage,
  usage,
  ledger,
} satisfies Stores;

export const POSTGRES_STORES = {
  ...STATE_STORES,
  blobs,
  findings,
  interruptedTries,
  notices,
  replicas,
} satisfies Stores<SharedDatabase>;

/** Open stores by name. */
export type OpenStores<S extends Stores<never>> = { readonly [K in keyof S]: ReturnType<S[K]['open']> };

/** Opens stores, once their tables exist. */
export function openStores<On extends StateDatabase, S extends Stores<On>>(
  stores: S,
  database: On,
): OpenStores<S> {
  const open = Object.entries(stores).map(([name, store]) => [name, store.open(database)] as const);
  return Object.fromEntries(open) as OpenStores<S>;
}

/** Tables of stores. */
export function tablesOf(stores: Stores<never>): readonly Table[] {
  return Object.values(stores).flatMap((store) => store.tables ?? []);
}

/** Tables and migrations of a database with these stores. */
export function schemaOf(stores: Stores<never>): SchemaParts {
  const changes = Object.values(stores).flatMap((store) => store.changes ?? []);
  return { tables: [SETTINGS, ...tablesOf(stores)], changes };
}
