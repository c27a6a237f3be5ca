// Replicas of deploy/, for compose and for Kubernetes, as a machine without containers can start them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { launchOf } from '../../support/program.ts';

export const ROOT = join(import.meta.dir, '..', '..', '..');
export const DEPLOY = join(ROOT, 'deploy');

const { command: PROGRAM } = await launchOf();

/** Command that starts a replica, and its health check. */
export interface Replica {
  readonly name: string;
  /** The program as it lies here, with its arguments. */
  readonly command: readonly [string, ...string[]];
  /** Variables that the image and the manifest set. */
  readonly environment: Readonly<Record<string, string>>;
  /** The text of the file that `DRAGOMAN_CONFIG` names. */
  readonly config: string;
  /** Milliseconds in which it may end, between the request to do so and its death. */
  readonly graceMs: number;
  readonly checks: readonly Check[];
}

/** How it is found to be well: a command that succeeds, or a path that answers 200. */
export type Check = { readonly command: readonly string[] } | { readonly path: string };

export interface ComposeService {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
}

interface Probe {
  readonly httpGet: { readonly path: string };
}

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: {
      readonly secretKeyRef: { readonly name: string; readonly key: string; readonly optional?: boolean };
    };
  }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly securityContext: Readonly<Record<string, unknown>>;
}

/** Members of a manifest that are read; the rest is the schema's. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly replicas?: number;
    readonly maxUnavailable?: number;
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template?: {
      readonly spec: {
        readonly terminationGracePeriodSeconds?: number;
        readonly securityContext: Readonly<Record<string, unknown>>;
        readonly containers: readonly Container[];
      };
    };
  };
}

/** Compose files: three replicas with their servers, and one gateway alone. */
export const COMPOSE_FILES = ['compose.yaml', 'compose.alone.yaml'] as const;

/** A compose file, with its merged mappings. */
export function composeFile(name: (typeof COMPOSE_FILES)[number] = 'compose.yaml'): ComposeFile {
  return parse(readFileSync(join(DEPLOY, name), 'utf8'), { merge: true }) as ComposeFile;
}

/** All manifests for Kubernetes. */
export function manifests(): readonly Manifest[] {
  const folder = join(DEPLOY, 'kubernetes');
  return readdirSync(folder).flatMap((file) =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((each) => each.toJS() as Manifest),
  );
}

/** @param variables that the person who starts it has set @param file which compose file */
export function composeReplicas(
  variables: Readonly<Record<string, string>>,
  file: (typeof COMPOSE_FILES)[number] = 'compose.yaml',
): readonly Replica[] {
  const image = readImage();
  return Object.entries(composeFile(file).services)
    .filter(([, service]) => service.image?.startsWith('dragoman:'))
    .map(
      ([name, { command = [], environment = {}, volumes = [], healthcheck, stop_grace_period: grace }]) => {
        const [, ...check] = healthcheck?.test ?? [];
        const filled = Object.entries(environment).map(([key, value]) => [key, fill(value, variables)]);
        return {
          name,
          command: [...image.command, ...command],
          environment: { ...image.environment, ...(Object.fromEntries(filled) as Record<string, string>) },
          config: configAt(volumes, environment['DRAGOMAN_CONFIG']),
          graceMs: 1000 * Number(/^(\d+)s$/.exec(grace ?? '')?.[1]),
          checks: [{ command: check.flatMap(wordsHere) }],
        };
      },
    );
}

/** @param secret the values of the Secret, by key; one without a value may be absent only where the manifest says so */
export function kubernetesReplicas(secret: Readonly<Record<string, string>>): readonly Replica[] {
  const all = manifests();
  const set = all.find(({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === 'dragoman');
  const pod = set?.spec?.template?.spec;
  const [container] = pod?.containers ?? [];
  if (!pod || !container) throw new Error('there is no StatefulSet dragoman');
  const image = readImage();
  const environment: Record<string, string> = { ...image.environment };
  for (const { name, value, valueFrom } of container.env) {
    const { key = '', optional = false } = valueFrom?.secretKeyRef ?? {};
    const given = value ?? secret[key];
    if (given !== undefined) environment[name] = given;
    else if (!optional) throw new Error(`the Secret has no ${key}`);
  }
  const configMap = all.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
  return Array.from({ length: set?.spec?.replicas ?? 0 }, (_, ordinal) => ({
    name: `dragoman-${ordinal}`,
    command: [...image.command, ...container.args],
    environment,
    config: configMap['dragoman.yaml'] ?? '',
    graceMs: 1000 * (pod.terminationGracePeriodSeconds ?? 30),
    checks: [container.startupProbe, container.readinessProbe, container.livenessProbe].map(
      ({ httpGet }) => ({
        path: httpGet.path,
      }),
    ),
  }));
}

/** A word of a command, with the program of this checkout in place of the image's. */
function wordsHere(word: string): readonly string[] {
  return word === '/dragoman' ? PROGRAM : [word];
}

/** End of the Dockerfile, with the program where it is here. */
function readImage(): {
  readonly command: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
} {
  const text = readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8');
  const line = (name: string): string => new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1] ?? '';
  const [program = '', ...args] = JSON.parse(line('ENTRYPOINT')) as readonly string[];
  const variables = line('ENV')
    .split(' ')
    .map((pair) => pair.split('='));
  return {
    command: [program, ...args].flatMap(wordsHere) as [string, ...string[]],
    environment: Object.fromEntries(variables) as Record<string, string>,
  };
}

/** `${NAME:?}` must be set, `${NAME:-}` need not (Compose Specification, "Interpolation"). */
function fill(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+):([?-])\}/g, (_, name: string, otherwise: string) => {
    const value = variables[name];
    if (value === undefined && otherwise === '?') throw new Error(`${name} is not set`);
    return value ?? '';
  });
}

/** The text of the file here that is mounted at this path; empty where no path is named. */
function configAt(volumes: readonly string[], path: string | undefined): string {
  if (path === undefined) return '';
  const mounted = volumes.find((volume) => volume.split(':')[1] === path)?.split(':')[0] ?? '';
  return readFileSync(join(DEPLOY, mounted), 'utf8');
}
