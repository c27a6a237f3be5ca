// `dragoman keys create|list|revoke`: API keys of the embedded database.
import { createKey, listKeys, revokeKey } from '../auth/index.ts';
import { GatewayError, toWishes, type RoutingDefaults } from '../canonical/index.ts';
import {
  ConfigError,
  checkWishes,
  formatRouting,
  knownProviders,
  parseRouting,
  type Config,
} from '../config/index.ts';
import { presets } from '../providers/index.ts';
import type { Storage } from '../storage/ports.ts';
import { parseArguments, printRows, type Arguments, type RunCommand } from './command.ts';
import { offlineSnapshot } from './offline-snapshot.ts';
import { openStorage } from './open-storage.ts';

export const keys: RunCommand = async (argv) => {
  const args = parseArguments(argv, {
    models: { type: 'string' },
    expires: { type: 'string' },
    'log-content': { type: 'boolean' },
    strict: { type: 'boolean' },
    routing: { type: 'string' },
  });
  const action = ACTIONS.get(args.words[0] ?? 'list');
  if (!action)
    throw new GatewayError(
      'invalid_request',
      `there is no "keys ${args.words[0]}"; use create, list or revoke`,
    );
  const { config } = args.load();
  const storage = await openStorage(config, (sentence) => void process.stderr.write(`${sentence}\n`));
  try {
    await action(storage, args, config);
  } finally {
    await storage.close();
  }
  return 0;
};

const ACTIONS: ReadonlyMap<string, (storage: Storage, args: Arguments, config: Config) => Promise<void>> =
  new Map([
    ['create', create],
    ['list', list],
    ['revoke', revoke],
  ]);

async function create(storage: Storage, args: Arguments, config: Config): Promise<void> {
  const expires = args.option('expires');
  const expiresAt = expires === undefined ? null : Date.parse(expires);
  if (Number.isNaN(expiresAt))
    throw new GatewayError('invalid_request', `--expires: "${expires}" is not a date such as 2027-01-31`);
  const models = args
    .option('models')
    ?.split(',')
    .map((model) => model.trim());
  const created = await createKey(
    storage.keys,
    await storage.secret('pepper'),
    {
      name: args.words[1] ?? '',
      models: models ?? null,
      expiresAt,
      logContent: args.flag('log-content'),
      strict: args.flag('strict') || null,
      routing: routingOf(args.option('routing'), config),
    },
    Date.now(),
  );
  if (args.json)
    process.stdout.write(`${JSON.stringify({ key: created.key, ...created.record }, null, 2)}\n`);
  else process.stdout.write(`${created.key}\n`);
  process.stderr.write('This key is shown only once: keep it somewhere safe.\n');
}

/** The block of `--routing`, its names checked against what this configuration serves. Throws ConfigError. */
function routingOf(text: string | undefined, config: Config): RoutingDefaults | null {
  if (text === undefined) return null;
  const words = parseRouting(text, '--routing');
  const { catalog } = offlineSnapshot(config);
  const known = { catalog, providers: knownProviders({ config, presets }) };
  checkWishes(toWishes(words, '--routing'), known, (path, message) => {
    throw new ConfigError(path, message);
  });
  return words;
}

async function list(storage: Storage, args: Arguments): Promise<void> {
  const rows = (await listKeys(storage.keys, Date.now())).map((key) => ({
    ...key,
    routing: key.routing && !args.json ? formatRouting(key.routing) : key.routing,
    created: new Date(key.createdAt).toISOString().slice(0, 10),
    expires: key.expiresAt === null ? 'never' : new Date(key.expiresAt).toISOString().slice(0, 10),
    models: key.models?.join(',') ?? 'all',
    strict: key.strict === null ? 'default' : String(key.strict),
  }));
  printRows(
    rows,
    ['id', 'name', 'hint', 'state', 'created', 'expires', 'models', 'strict', 'routing'],
    args.json,
  );
}

async function revoke(storage: Storage, args: Arguments): Promise<void> {
  const which = args.words[1];
  if (!which) throw new GatewayError('invalid_request', 'say which key: its id or its name');
  const key = await revokeKey(storage.keys, which, Date.now());
  if (args.json) process.stdout.write(`${JSON.stringify(key, null, 2)}\n`);
  else process.stdout.write(`revoked ${key.id} (${key.name})\n`);
}
