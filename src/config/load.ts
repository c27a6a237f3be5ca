// From a file, the environment and flags to a checked configuration. Flags beat the environment, which beats the
// file. Throws ConfigError with the path of the wrong key; what happens then is the caller's business.
import { existsSync, readFileSync } from 'node:fs';
import { nearest } from '../catalog/index.ts';
import type { JsonObject } from '../canonical/index.ts';
import { ConfigError } from './config-error.ts';
import { toConfig } from './config.ts';
import type { Config } from './config.ts';
import { describeIssues } from './schema/describe-issues.ts';
import type { Environment } from './environment.ts';
import { interpolate } from './interpolate.ts';
import { networkOf } from './network-of.ts';
import { parseYaml } from './parse-yaml.ts';
import { configSchema, configNodeAt } from './schema/schema.ts';
import type { ConfigFile } from './schema/schema.ts';
import { shownConfig } from './shown-config.ts';

/** What the command line may say. */
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
  /** Both default to the file system; tests give their own. */
  readonly readFile?: ((path: string) => string) | undefined;
  readonly exists?: ((path: string) => boolean) | undefined;
  /** The text of a file that is only tried, in the place of what the named one says. */
  readonly draft?: string | undefined;
}

export interface LoadedConfig {
  readonly config: Config;
  /** The file that was read; null when there is none. */
  readonly path: string | null;
  /** All of it in the file's own words, defaults filled in, secrets masked. Takes some 50 ms. */
  show(): JsonObject;
}

const DEFAULT_PATH = 'dragoman.yaml';

/** Which file to read: the flag's, the environment's, or `dragoman.yaml` if it exists; null: none. */
export function configPath(input: LoadInput): string | null {
  const named = input.flags?.config ?? (input.environment['DRAGOMAN_CONFIG'] || undefined);
  if (named !== undefined) return named;
  return (input.exists ?? existsSync)(DEFAULT_PATH) ? DEFAULT_PATH : null;
}

/**
 * Reads and checks the configuration.
 * @throws ConfigError
 */
export function loadConfig(input: LoadInput): LoadedConfig {
  const readFile = input.readFile ?? ((path: string) => readFileSync(path, 'utf8'));
  const path = configPath(input);
  const text = input.draft ?? (path === null ? null : readNamed(path, readFile));
  const file = text === null ? {} : parseYaml(text, '', 'server: { port: 4000 }');
  const filled = interpolate(file, { environment: input.environment, readFile, nodeAt: configNodeAt });
  const given = overlay(filled, input);
  const checked = configSchema.safeParse(given);
  if (!checked.success) {
    const problems = describeIssues(checked.error.issues);
    const first = problems[0];
    throw new ConfigError(
      first?.path ?? '',
      first?.message ?? 'is not valid',
      problems.map((problem) => (problem.path ? `${problem.path}: ${problem.message}` : problem.message)),
    );
  }
  refuseTwins(checked.data);
  refuseUnknownProjects(checked.data);
  const network = networkOf(checked.data.upstream.ca ?? [], { ...input, readFile });
  return { config: toConfig(checked.data, network), path, show: () => shownConfig(given) };
}

/** Of two entries for one key, one would silently not count, its limits included. */
function refuseTwins({ keys, server }: ConfigFile): void {
  const places = new Map<string, string>();
  if (server.adminKey !== null) places.set(server.adminKey.reveal(), 'server.admin_key');
  keys.forEach(({ key }, at) => {
    if (key === null) return;
    const place = `keys[${at}].key`;
    const first = places.get(key.reveal());
    if (first !== undefined) throw new ConfigError(place, `is the same key as ${first}`);
    places.set(key.reveal(), place);
  });
}

/** A key whose project is misspelt would have none of its limits. */
function refuseUnknownProjects({ keys, projects }: ConfigFile): void {
  keys.forEach(({ project }, at) => {
    if (project === null || Object.hasOwn(projects, project)) return;
    const [near] = nearest(project, Object.keys(projects), 1);
    const hint = near === undefined ? 'name it under `projects`' : `did you mean "${near}"?`;
    throw new ConfigError(`keys[${at}].project`, `there is no project "${project}": ${hint}`);
  });
}

function readNamed(path: string, readFile: (path: string) => string): string {
  try {
    return readFile(path);
  } catch (error) {
    throw new ConfigError(
      '',
      `cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Lays the environment and then the flags over the file. Values of the wrong kind are left for the schema to refuse. */
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

/** A port as text. Throws ConfigError for anything else; undefined when nothing is given. @param name where it was given */
export function portOf(given: string | number | undefined, name: string): number | undefined {
  if (given === undefined || given === '') return undefined;
  const port = Number(given);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new ConfigError('server.port', `${name} must be a port from 0 to 65535, not "${given}"`);
}

function workersOf(given: string | undefined, name: string): number | 'auto' | undefined {
  if (given === undefined || given === '' || given === 'auto') return given || undefined;
  const count = Number(given);
  if (Number.isInteger(count) && count >= 1 && count <= 256) return count;
  throw new ConfigError(
    'server.workers',
    `${name} must be \`auto\`, or a number from 1 to 256, not "${given}"`,
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
