// Settings of an installation by name: fingerprints of secrets, its identity, how far long work has come.
import { sql } from 'kysely';
import { firstOf, type Queries } from './database.ts';
import { type SchemaOf, table } from './table.ts';

export const SETTINGS = table({
  name: 'settings',
  columns: { name: 'text', value: 'text' },
  key: ['name'],
  // Moved and backed up by name: most mean something in their own database alone.
  isLocal: true,
});

/** The one table that drivers know; all others belong to their stores. */
export type SettingsSchema = SchemaOf<[typeof SETTINGS]>;

/** The value of a setting. */
export function* settingOf(name: string): Queries<string | undefined> {
  return (yield* firstOf(sql<{ value: string }>`select value from settings where name = ${name}`))?.value;
}
