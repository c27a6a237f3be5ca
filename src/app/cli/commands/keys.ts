// `dragoman keys create|list|show|set|rotate|revoke`: API keys of the embedded database.
import { printable } from '../../../base/lib/printable.ts';
import { KeyCommands, type KeySettings, type KeyView } from '../../../accounts/auth/index.ts';
import {
  GatewayError,
  KEY_ROLES,
  toWishes,
  type KeyRole,
  type RoutingDefaults,
} from '../../../canonical/index.ts';
import {
  ConfigError,
  checkWishes,
  formatRouting,
  knownProviders,
  parseRouting,
  type Config,
} from '../../config/index.ts';
import { presets } from '../../../catalog/providers/index.ts';
import {
  jsonText,
  noAction,
  parseArguments,
  printRows,
  type Arguments,
  type RunCommand,
} from '../command.ts';
import { KEYS_OPTIONS } from '../options.ts';
import { limitsText, readLimits } from './limit-options.ts';
import { offlineSnapshot } from './offline-snapshot.ts';
import { dateText, everyPage, withTenants } from './tenant-command.ts';

export const keys: RunCommand = async (argv) => {
  const args = parseArguments(argv, KEYS_OPTIONS);
  const word = args.words[0] ?? 'list';
  const action = ACTIONS.get(word);
  if (!action) throw noAction('keys', word, [...ACTIONS.keys()]);
  return withTenants(args, (tenants, config) => action(new KeyCommands(tenants), args, config));
};

type Action = (commands: KeyCommands, args: Arguments, config: Config) => Promise<void>;

const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['create', create],
  ['list', list],
  ['show', show],
  ['set', set],
  ['rotate', rotate],
  ['revoke', revoke],
]);

async function create(commands: KeyCommands, args: Arguments, config: Config): Promise<void> {
  const settings = settingsOf(args, config);
  printKey(
    await commands.create({ ...settings, name: args.words[1] ?? '', projectId: args.option('project') }),
    args,
  );
}

async function list(commands: KeyCommands, args: Arguments): Promise<void> {
  const projectId = args.option('project');
  const inFile = commands
    .configured()
    .filter((key) => projectId === undefined || key.projectId === projectId);
  const stored = await everyPage(async (after) => {
    const { entries, hasMore } = await commands.list({ ...after, order: 'asc', projectId });
    return { entries, hasMore };
  });
  const rows = [...inFile, ...stored].map((key) => (args.json ? jsonOf(key) : rowOf(key)));
  printRows(rows, COLUMNS, args.json);
}

async function show(commands: KeyCommands, args: Arguments): Promise<void> {
  print(await commands.find(nameOf(args)), args);
}

async function set(commands: KeyCommands, args: Arguments, config: Config): Promise<void> {
  if (args.option('project') !== undefined)
    throw new GatewayError(
      'invalid_request',
      'the project of a key cannot be changed; create a key in the other project',
    );
  const change = { ...settingsOf(args, config), name: args.option('name') };
  print(await commands.change(nameOf(args), change), args);
}

async function rotate(commands: KeyCommands, args: Arguments): Promise<void> {
  printKey(await commands.rotate(nameOf(args), graceOf(args.option('grace'))), args);
}

async function revoke(commands: KeyCommands, args: Arguments): Promise<void> {
  const key = await commands.revoke(nameOf(args));
  if (args.json) process.stdout.write(jsonText(key));
  else process.stdout.write(`revoked ${key.id} (${printable(key.name)})\n`);
}

function nameOf(args: Arguments): string {
  const which = args.words[1];
  if (!which) throw new GatewayError('invalid_request', 'requires the id or name of a key');
  return which;
}

/** Settings given by options; others are absent. */
function settingsOf(args: Arguments, config: Config): KeySettings {
  const expires = args.option('expires');
  const expiresAt = expires === undefined || expires === 'never' ? null : Date.parse(expires);
  if (Number.isNaN(expiresAt))
    throw new GatewayError(
      'invalid_request',
      `--expires: must be \`never\` or a date such as 2027-01-31 (got "${expires}")`,
    );
  const models = args.option('models');
  const routing = args.option('routing');
  const logContent = args.choice('log-content');
  const strict = args.choice('strict');
  const onDisconnect = args.option('on-disconnect');
  return {
    ...(models !== undefined && {
      models: models === 'all' ? null : models.split(',').map((model) => model.trim()),
    }),
    ...(expires !== undefined && { expiresAt }),
    ...(logContent !== undefined && { logContent }),
    ...(strict !== undefined && { strict }),
    ...(onDisconnect !== undefined && { onDisconnect: onDisconnect === 'default' ? null : onDisconnect }),
    ...(routing !== undefined && { routing: routing === 'none' ? null : routingOf(routing, config) }),
    ...rolesOf(args.options('role')),
    ...readLimits(args),
  };
}

function rolesOf(words: readonly string[]): { roles?: readonly KeyRole[] } {
  if (words.length === 0) return {};
  const roles = words.map((word) => {
    const role = KEY_ROLES.find((one) => one === word);
    if (role) return role;
    throw new GatewayError(
      'invalid_request',
      `--role: must be one of ${KEY_ROLES.join(', ')} (got "${word}")`,
    );
  });
  return { roles };
}

/** The block of `--routing`, with names checked against the configuration. Throws ConfigError. */
function routingOf(text: string, config: Config): RoutingDefaults {
  const words = parseRouting(text, '--routing');
  const { catalog } = offlineSnapshot(config);
  const known = { catalog, providers: knownProviders({ config, presets }) };
  checkWishes(toWishes(words, '--routing'), known, (path, message) => {
    throw new ConfigError(path, message);
  });
  return words;
}

const HOUR = 3_600_000;
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: HOUR, d: 24 * HOUR };

/** Milliseconds of e.g. `24h`. Default 0, so that a leaked secret stops working immediately. */
function graceOf(text: string | undefined): number {
  if (text === undefined) return 0;
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? Number.NaN);
  if (Number.isNaN(ms))
    throw new GatewayError(
      'invalid_request',
      `--grace: must be a duration such as 24h or 30m (got "${text}")`,
    );
  return ms;
}

function printKey({ key, record }: { key: string; record: KeyView }, args: Arguments): void {
  if (args.json) process.stdout.write(jsonText({ key, ...record }));
  else process.stdout.write(`${key}\n`);
  process.stderr.write('This key is shown only once. Store it safely.\n');
  if (record.previousUntil !== null)
    process.stderr.write(
      `The previous secret is valid until ${new Date(record.previousUntil).toISOString()}.\n`,
    );
}

function print(key: KeyView, args: Arguments): void {
  if (args.json) process.stdout.write(jsonText(key));
  else printRows([rowOf(key)], COLUMNS, false);
}

const COLUMNS = [
  'id',
  'name',
  'project',
  'hint',
  'state',
  'created',
  'expires',
  'models',
  'roles',
  'limits',
  'strict',
  'routing',
];

function jsonOf(key: KeyView): Readonly<Record<string, unknown>> {
  return { ...key };
}

function rowOf(key: KeyView): Readonly<Record<string, string>> {
  const routing = key.source === 'database' ? (key.routing as RoutingDefaults | null) : null;
  return {
    id: key.id,
    name: key.name,
    project: key.projectId ?? 'own',
    hint: key.hint,
    state: key.state,
    created: key.createdAt === null ? 'in the file' : dateText(key.createdAt),
    expires: key.expiresAt === null ? 'never' : dateText(key.expiresAt),
    models: key.models?.join(',') ?? 'all',
    roles: key.roles.join(','),
    limits: limitsText(key),
    strict: key.strict === null ? 'default' : String(key.strict),
    routing: routing ? formatRouting(routing) : '',
  };
}
