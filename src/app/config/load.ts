// Loads and validates the configuration. Flags override the environment, which overrides the file. Throws ConfigError
// with the path of the invalid key.
import { TEXTS } from '../../canonical/index.ts';
import { describeIssues } from '../../catalog/schema/index.ts';
import { existsSync } from 'node:fs';
import { nearest } from '../../catalog/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import { ConfigError } from './config-error.ts';
import { toConfig } from './config.ts';
import type { Config } from './config.ts';
import { readConfiguredFile } from './configured-file.ts';
import type { Draft } from './draft.ts';
import type { Environment } from './environment.ts';
import { interpolate } from './interpolate.ts';
import { networkOf } from './network-of.ts';
import { parseYaml } from './parse-yaml.ts';
import { keepReferences, References } from './references.ts';
import { configSchema, configNodeAt } from './schema/schema.ts';
import type { ConfigFile } from './schema/schema.ts';
import { shownConfig } from './shown-config.ts';
import { errorText } from '../../base/lib/errors.ts';

/** Settings of the command line. */
export interface Flags {
  readonly config?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | number | undefined;
  readonly dataDir?: string | undefined;
  readonly workers?: string | undefined;
}

export interface LoadInput {
  readonly environment: Environment;
  readonly flags?: Flags | undefined;
  /** Both default to the file system; replaced in tests. */
  readonly readFile?: ((path: string) => string) | undefined;
  readonly exists?: ((path: string) => boolean) | undefined;
  /** A draft to check in place of the file. */
  readonly draft?: Draft | undefined;
}

export interface LoadedConfig {
  readonly config: Config;
  /** The file that was read. Null: none. */
  readonly path: string | null;
  /** True if there is no file, or if it contains no settings. */
  readonly isEmpty: boolean;
  /** Environment and command line with which it was read. */
  readonly from: Required<Pick<LoadInput, 'environment' | 'flags'>>;
  /** Paths of files and folders in it, as written. */
  readonly named: readonly string[];
  /** The whole configuration in the file's format, with defaults, and secrets masked. Takes about 50 ms. */
  show(): JsonObject;
}

/** The configuration file of a folder, if none is named. */
export const DEFAULT_PATH = 'dragoman.yaml';

/** The configuration file: from the flag, the environment, or `dragoman.yaml` if it exists. Null: none. */
export function configPath(input: LoadInput): string | null {
  const named = input.flags?.config ?? (input.environment['DRAGOMAN_CONFIG'] || undefined);
  if (named !== undefined) return named;
  return (input.exists ?? existsSync)(DEFAULT_PATH) ? DEFAULT_PATH : null;
}

/** Reads and validates the configuration. @throws ConfigError */
export function loadConfig(input: LoadInput): LoadedConfig {
  const references = new References();
  return withoutValues(references, () => load(input, references));
}

/** Runs a function whose errors may quote values of variables or files. @throws ConfigError with these values masked */
export function withoutValues<T>(references: References, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const [first = '', ...more] = error.problems.map((problem) => references.masked(problem));
    throw new ConfigError(error.path, first, [first, ...more]);
  }
}

function load(input: LoadInput, references: References): LoadedConfig {
  const { draft, environment } = input;
  const named: string[] = [];
  const read = input.readFile ?? readConfiguredFile;
  const readFile = (file: string): string => {
    named.push(file);
    return draft ? draft.readNamed(file) : read(file);
  };
  const path = configPath(input);
  const text = draft ? draft.text : path === null ? null : readNamed(path, read);
  const file = text === null ? {} : parseYaml(text, '', 'server: { port: 4000 }');
  const missing: ConfigError[] = [];
  const filled = interpolate(file, {
    environment,
    readFile,
    nodeAt: configNodeAt,
    refuse: (problem) => missing.push(problem),
    references,
    draft,
  });
  const given = overlay(filled, input);
  const checked = configSchema.safeParse(given);
  if (!checked.success) throw allOf([...missing, ...refusedBySchema(checked.error.issues, missing)]);
  const wrong = [
    ...missing,
    ...duplicateKeys(checked.data),
    ...shortAdmins(checked.data),
    ...unknownProjects(checked.data),
  ];
  if (wrong.length > 0) throw allOf(wrong);
  const network = networkOf(checked.data.upstream.ca ?? [], { environment, readFile });
  const config = toConfig(checked.data, network);
  keepReferences(config, references);
  const from = { environment, flags: input.flags ?? {} };
  return {
    config,
    path,
    isEmpty: Object.keys(file).length === 0,
    from,
    named: [...named, ...namedIn(config)],
    show: () => shownConfig(given),
  };
}

/**
 * Reads the configuration of a running gateway again.
 * @param before the one in force
 * @throws ConfigError also if its file is gone or empty, because it is then being written: without it, every key and budget of
 *   the file would disappear
 */
export function reloadConfig(before: LoadedConfig, read: () => LoadedConfig): LoadedConfig {
  const next = read();
  if (before.isEmpty || !next.isEmpty) return next;
  const what = next.path === null ? 'there is no file any more' : 'the file contains no settings';
  throw new ConfigError('', `${what}; restore it, or restart the gateway to run without it`);
}

/** Files and folders that are read later. */
function namedIn({ providers, prompts }: Config): readonly string[] {
  const paths = Object.values(providers).flatMap((provider) =>
    provider === false
      ? []
      : [provider.credentials?.reveal(), provider.tls?.cert, provider.tls?.key?.reveal(), provider.tls?.ca],
  );
  return [...paths, prompts].filter(
    (path): path is string => typeof path === 'string' && !/^\s*\{|-----BEGIN /.test(path),
  );
}

/** Combines errors into one, with the path of the first. */
function allOf(problems: readonly ConfigError[]): ConfigError {
  const [first] = problems;
  return first && problems.length === 1
    ? first
    : new ConfigError(
        first?.path ?? '',
        'is not valid',
        problems.flatMap((each) => each.problems),
      );
}

/** Problems found by the schema, except those of values that are empty because a variable is missing. */
function refusedBySchema(
  issues: Parameters<typeof describeIssues>[0],
  missing: readonly ConfigError[],
): readonly ConfigError[] {
  const known = new Set(missing.map(({ path }) => path));
  return describeIssues(issues, configNodeAt)
    .filter(({ path }) => !known.has(path))
    .map(({ path, message }) => new ConfigError(path, message));
}

/** Duplicate keys, because the second entry and its limits would silently be ignored. */
function* duplicateKeys({ keys, server }: ConfigFile): Iterable<ConfigError> {
  const places = new Map<string, string>();
  if (server.adminKey !== null) places.set(server.adminKey.reveal(), 'server.admin_key');
  for (const [at, { key }] of keys.entries()) {
    // Empty because of a missing variable, which is already reported.
    if (key === null || key.reveal() === '') continue;
    const place = `keys[${at}].key`;
    const first = places.get(key.reveal());
    if (first !== undefined) yield new ConfigError(place, `is the same key as ${first}`);
    else places.set(key.reveal(), place);
  }
}

/** Minimum characters of an admin's key. */
const LEAST_ADMIN_KEY = 16;

/** Admin keys that could be guessed. */
function* shortAdmins({ keys, server }: ConfigFile): Iterable<ConfigError> {
  if (server.adminKey !== null) yield* shortAdmin('server.admin_key', server.adminKey.reveal());
  for (const [at, { key, roles }] of keys.entries())
    if (key !== null && roles.includes('admin')) yield* shortAdmin(`keys[${at}].key`, key.reveal());
}

function* shortAdmin(path: string, key: string): Iterable<ConfigError> {
  // An empty one is no key.
  if (key === '' || key.length >= LEAST_ADMIN_KEY) return;
  const problem =
    `an admin key must have at least ${LEAST_ADMIN_KEY} characters (got ${key.length}); ` +
    'create one with `openssl rand -hex 24`';
  yield new ConfigError(path, problem);
}

/** Keys with an unknown project, whose limits would not apply. */
function* unknownProjects({ keys, projects }: ConfigFile): Iterable<ConfigError> {
  for (const [at, { project }] of keys.entries()) {
    if (project === null || Object.hasOwn(projects, project)) continue;
    const [near] = nearest(project, Object.keys(projects), 1);
    const hint = near === undefined ? 'add it under `projects`' : `did you mean "${near}"?`;
    yield new ConfigError(`keys[${at}].project`, `unknown project "${project}"; ${hint}`);
  }
}

function readNamed(path: string, readFile: (path: string) => string): string {
  try {
    return readFile(path);
  } catch (error) {
    throw new ConfigError('', TEXTS.cannotRead(path, errorText(error)));
  }
}

/** Merges the environment and then the flags into the file. The schema refuses values of the wrong type. */
function overlay(file: unknown, input: LoadInput): unknown {
  if (!isRecord(file)) return file;
  const result: Record<string, unknown> = { ...file };
  const { environment, flags } = input;
  const server: Record<string, unknown> = isRecord(file['server']) ? { ...file['server'] } : {};
  set(server, 'host', environment['DRAGOMAN_HOST']);
  set(server, 'port', portOf(environment['DRAGOMAN_PORT'], 'DRAGOMAN_PORT'));
  set(server, 'admin_key', environment['DRAGOMAN_ADMIN_KEY']);
  set(server, 'host', flags?.host);
  set(server, 'port', portOf(flags?.port, '--port'));
  set(server, 'workers', workersOf(environment['DRAGOMAN_WORKERS'], 'DRAGOMAN_WORKERS'));
  set(server, 'workers', workersOf(flags?.workers, '--workers'));
  if (file['server'] === undefined || isRecord(file['server'])) result['server'] = server;
  set(result, 'data_dir', environment['DRAGOMAN_DATA_DIR']);
  set(result, 'database_url', environment['DATABASE_URL']);
  set(result, 'secret', environment['DRAGOMAN_SECRET']);
  set(result, 'redis_url', environment['REDIS_URL']);
  set(result, 'data_dir', flags?.dataDir);
  const key = environment['DRAGOMAN_KEY'];
  const keys: unknown = file['keys'] ?? [];
  if (key && Array.isArray(keys) && !keys.some((entry) => isRecord(entry) && entry['key'] === key)) {
    result['keys'] = [...(keys as unknown[]), { name: 'environment', key }];
  }
  return result;
}

function set(target: Record<string, unknown>, name: string, value: unknown): void {
  if (value !== undefined && value !== '') target[name] = value;
}

/** A port as text. Throws ConfigError for an invalid one; undefined: none given. @param name of the setting */
export function portOf(given: string | number | undefined, name: string): number | undefined {
  if (given === undefined || given === '') return undefined;
  const port = Number(given);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new ConfigError('server.port', `${name} must be a port from 0 to 65535 (got "${given}")`);
}

function workersOf(given: string | undefined, name: string): number | 'auto' | undefined {
  if (given === undefined || given === '' || given === 'auto') return given || undefined;
  const count = Number(given);
  if (Number.isInteger(count) && count >= 1 && count <= 256) return count;
  throw new ConfigError(
    'server.workers',
    `${name} must be \`auto\` or an integer from 1 to 256 (got "${given}")`,
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
