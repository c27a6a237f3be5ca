// Settings of an installation by name: fingerprints of secrets, its identity, progress of long tasks.
import { sql } from 'kysely';
import { firstOf, type Queries } from '../database.ts';
import { table } from '../table.ts';

export const SETTINGS = table({
  name: 'settings',
  columns: { name: 'text', value: 'text' },
  key: ['name'],
  // Moved and backed up by name, because most of them are specific to their database.
  isLocal: true,
});

/** Reads a setting. */
export function* settingOf(name: string): Queries<string | undefined> {
  return (yield* firstOf(sql<{ value: string }>`select value from settings where name = ${name}`))?.value;
}

/** Stores a setting, unless there is one of this name. */
export function* addSetting(name: string, value: string): Queries<void> {
  yield sql`insert into settings (name, value) values (${name}, ${value}) on conflict (name) do nothing`;
}
