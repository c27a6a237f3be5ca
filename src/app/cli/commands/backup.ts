// `dragoman backup`, `restore` and `verify`: back up an installation while it runs, restore a backup, check a backup.
import { resolve } from 'node:path';
import type { Config } from '../../config/index.ts';
import {
  type BackedUp,
  backUpDirectory,
  restoreDirectory,
  verifyBackup,
} from '../../../storage/backup/directory.ts';
import { systemClock } from '../../../base/runtime/clock.ts';
import { parseArguments, type Arguments, type RunCommand } from '../command.ts';

export const backup: RunCommand = (argv) =>
  withFolder(argv, 'backup', async (args, folder) => {
    const { config } = args.load();
    const { bytes, rows } = await backUp(config, folder);
    if (args.json) return print(JSON.stringify({ folder, bytes, rows }));
    const count = Object.values(rows).reduce((sum, some) => sum + some, 0);
    print(
      `Backed up ${count} rows (${(bytes / 1_000_000).toFixed(1)} MB) to ${folder}, with SHA-256 checksums.`,
    );
    if (config.databaseUrl)
      say('The backup does not contain the `secret` of the configuration. Keep a separate copy of it.');
    else say('The backup contains secret.key, which verifies API keys. Protect it like the data directory.');
    if (config.files.store) say('The backup does not contain uploaded files, which are in the bucket.');
  });

export const restore: RunCommand = (argv) =>
  withFolder(argv, 'restore', async (args, folder) => {
    const { config } = args.load();
    const url = config.databaseUrl?.reveal();
    const { madeAt, rows } =
      url === undefined
        ? await restoreDirectory(folder, config.dataDir)
        : await (await import('../../../storage/backup/database.ts')).restoreDatabase(folder, url);
    if (args.json) return print(JSON.stringify({ madeAt, rows }));
    const to = url === undefined ? config.dataDir : 'the database at database_url';
    print(
      `Restored ${to} to the backup of ${new Date(madeAt).toISOString()}. You can start the gateway now.`,
    );
  });

export const verify: RunCommand = (argv) =>
  withFolder(argv, 'verify', async (args, folder) => {
    const { madeAt, program, database, rows } = await verifyBackup(folder);
    if (args.json) return print(JSON.stringify({ madeAt, program, database, rows }));
    const count = Object.values(rows).reduce((sum, some) => sum + some, 0);
    const name = database === 'sqlite' ? 'SQLite' : 'PostgreSQL';
    print(
      `${folder} is a complete backup: ${name}, ${count} rows, created at ${new Date(madeAt).toISOString()}`,
    );
  });

async function backUp(config: Config, folder: string): Promise<BackedUp> {
  const url = config.databaseUrl?.reveal();
  if (url === undefined) return backUpDirectory(config.dataDir, folder, systemClock.wall());
  // Loaded on demand, because the embedded database does not need it.
  return (await import('../../../storage/backup/database.ts')).backUpDatabase(
    url,
    folder,
    systemClock.wall(),
  );
}

async function withFolder(
  argv: readonly string[],
  name: string,
  work: (args: Arguments, folder: string) => Promise<void>,
): Promise<number> {
  const args = parseArguments(argv);
  const [folder, ...rest] = args.words;
  if (folder === undefined || rest.length > 0) {
    say(`dragoman ${name}: requires exactly one folder: dragoman ${name} DIR`);
    return 2;
  }
  await work(args, resolve(folder));
  return 0;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
