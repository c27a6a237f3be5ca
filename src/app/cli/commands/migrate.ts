// `dragoman migrate sqlite-to-postgres`: moves a data directory into a PostgreSQL database.
import { inThisShell } from '../program-name.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, type Config } from '../../config/index.ts';
import { readCapabilities } from '../../../operations/doctor/index.ts';
import type { MoveState } from '../../../storage/moving/move.ts';
import { masterSecret } from '../../../storage/secrets/secret-file.ts';
import { parseArguments, type Arguments, type RunCommand } from '../command.ts';
import { MIGRATE_OPTIONS } from '../options.ts';
import { storeShared } from '../compose/open-findings.ts';
import { masterSecrets } from '../compose/open-storage.ts';
import { recoverRunning } from '../compose/recover-running.ts';

const USAGE = inThisShell('migrate sqlite-to-postgres [--from DIR] [--to postgres://…] [--dry-run]');
/** Interval of progress lines, in milliseconds. */
const LINE_MS = 2_000;

export const migrate: RunCommand = async (argv) => {
  const args = parseArguments(argv, MIGRATE_OPTIONS);
  const [what, ...rest] = args.words;
  if (what !== 'sqlite-to-postgres' || rest.length > 0) {
    say(
      `dragoman migrate: ${what === undefined ? 'requires an action' : `unknown action "${args.words.join(' ')}"`}: ${USAGE}`,
    );
    return 2;
  }
  const { config } = args.load();
  const dataDir = args.option('from') ?? config.dataDir;
  const url = args.option('to') ?? config.databaseUrl?.reveal();
  if (url === undefined) throw new ConfigError('database_url', `required, or --to: ${USAGE}`);
  await move(args, config, dataDir, url);
  return 0;
};

async function move(args: Arguments, config: Config, dataDir: string, url: string): Promise<void> {
  const { measureMove, moveAll, openSource, openTarget } = await import('../../../storage/moving/move.ts');
  const given = masterSecrets(config);
  const source = await openSource({ dataDir, secrets: given, notice: say });
  try {
    const target = await openTarget(url, say);
    try {
      const withBytes = config.files.store === null;
      const what = { source, target, dataDir, withBytes };
      if (args.flag('dry-run')) return report(args, await measureMove(what), 'to move');
      await recoverRunning(source.storage);
      await source.settle(Date.now());
      const own = join(dataDir, 'secret.key');
      const secrets = given.length > 0 ? given : [masterSecret(own, false)];
      const started = performance.now();
      const last = (): Promise<void> => storeShared(target.findings, readCapabilities(dataDir).diagnoses);
      const { isNew, rows, missing } = await moveAll({ ...what, secrets, moved: progressLines(), last });
      if (!isNew) return say(`${dataDir} has already been moved to this database.`);
      for (const id of missing) say(`The content of ${id} is missing from ${dataDir}.`);
      report(args, rows, `moved and verified in ${((performance.now() - started) / 1000).toFixed(1)} s`);
      if (given.length === 0 && existsSync(own))
        say(
          `Gateways that use this database need the previous secret: set \`secret\` (DRAGOMAN_SECRET) to the content of ${own}.`,
        );
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Prints progress and remaining time periodically. */
function progressLines(): (state: MoveState) => void {
  const started = performance.now();
  let said = started;
  let before: number | null = null;
  return ({ part, done, of, allDone, allOf }) => {
    const now = performance.now();
    // Rows moved by an earlier run are excluded from the speed.
    before ??= allDone;
    if (now - said < LINE_MS) return;
    said = now;
    const left = ((now - started) / Math.max(1, allDone - before)) * (allOf - allDone);
    const share = Math.floor((100 * allDone) / Math.max(1, allOf));
    say(`${share} %, about ${Math.ceil(left / 1000)} s left (${part}: ${done} of ${of})`);
  };
}

function report(args: Arguments, rows: Readonly<Record<string, number>>, what: string): void {
  if (args.json) return print(JSON.stringify({ rows }));
  for (const [part, count] of Object.entries(rows)) print(`${String(count).padStart(12)} ${part}`);
  const all = Object.values(rows).reduce((sum, count) => sum + count, 0);
  print(`${String(all).padStart(12)} rows ${what}`);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
