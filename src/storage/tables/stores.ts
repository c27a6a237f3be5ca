// All stores: one line for each that both databases have, and those only PostgreSQL has, which several machines share.
import { alerts } from './alerts.ts';
import { audit } from './audit.ts';
import { batches } from './batches.ts';
import { blobs } from './blobs.ts';
import { conversations } from './conversations.ts';
import type { StateDatabase, Store } from './database.ts';
import { files } from './files.ts';
import { findings } from './findings.ts';
import { interruptedTries } from './interrupted-tries.ts';
import { jobs } from './jobs.ts';
import { keys } from './keys.ts';
import { ledger } from '../ledger/ledger.ts';
import { usage } from '../ledger/usage.ts';
import { managementAnswers } from './management-answers.ts';
import { payloads } from './payloads.ts';
import { projects } from './projects.ts';
import { prompts } from './prompts.ts';
import { replicas } from './replicas.ts';
import { responses } from './responses.ts';
import { stateUsage } from './state-usage.ts';
import type { SchemaChange } from './schema.ts';
import type { Table } from './table.ts';
import { uploads } from './uploads.ts';
import { vault } from './vault.ts';
import { webhooks } from './webhooks.ts';

/** Stores by their names. */
export type Stores = Readonly<Record<string, Store<unknown>>>;

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
  interruptedTries,
  alerts,
  webhooks,
  payloads,
  managementAnswers,
  stateUsage,
  usage,
  ledger,
} satisfies Stores;

export const SHARED_STORES = { blobs, findings, replicas } satisfies Stores;

/** A store as opened by the driver of one database. */
export interface DriverStore<Base, T> {
  readonly tables?: readonly Table[];
  readonly changes?: readonly SchemaChange[];
  /** Called once the tables exist. */
  readonly open: (base: Base) => T;
}

/** Open stores by name. */
export type OpenStores<S extends Readonly<Record<string, DriverStore<never, unknown>>>> = {
  readonly [K in keyof S]: ReturnType<S[K]['open']>;
};

/** Adapts stores that run on both databases to a driver. */
export function shared<S extends Stores>(
  stores: S,
): {
  readonly [K in keyof S]: DriverStore<{ readonly database: StateDatabase }, ReturnType<S[K]['open']>>;
} {
  const entries = Object.entries(stores).map(([name, { tables, changes = [], open }]) => [
    name,
    { tables, changes, open: ({ database }: { readonly database: StateDatabase }) => open(database) },
  ]);
  return Object.fromEntries(entries) as ReturnType<typeof shared<S>>;
}

export function openStores<Base, S extends Readonly<Record<string, DriverStore<Base, unknown>>>>(
  stores: S,
  base: Base,
): OpenStores<S> {
  const open = Object.entries(stores).map(([name, store]) => [name, store.open(base)] as const);
  return Object.fromEntries(open) as OpenStores<S>;
}

/** Tables of stores, without duplicates. */
export function tablesOf(stores: Stores): readonly Table[] {
  const tables = Object.values(stores).flatMap((store) => store.tables);
  return [...new Map(tables.map((declared) => [declared.name, declared])).values()];
}
