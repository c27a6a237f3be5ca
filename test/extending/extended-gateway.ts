// Gateway of a copy of the sources that a test has extended, started as a user starts it. It ends with the test file.
import { afterAll } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../src/base/json/index.ts';
import { freshFolder, nodeLauncher, startProgram } from '../support/program.ts';
import { addFile, copySources, insert } from './copied-sources.ts';

/** Keys of a gateway with a new task: `limited` has one request a day, and `poor` a budget below the cost of a request. */
export const KEYS = {
  test: 'sk-test',
  limited: 'sk-test-limited',
  poor: 'sk-test-poor',
  admin: 'sk-admin-0123456789',
} as const;

export interface ExtendedGateway {
  /** `http://host:port` */
  readonly origin: string;
  /** Reads a path with a key; default: the key without limits. */
  get(path: string, key?: string): Promise<Response>;
}

interface Extension {
  /** Serves the requests to the gateway's upstream. */
  readonly upstream: (request: Request) => Response | Promise<Response>;
  /** Changes the copied sources. */
  readonly extend: (folder: string) => void;
  /** Configuration. @param upstream origin of the upstream */
  readonly settings: (upstream: string) => JsonObject;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts a gateway of extended sources, with an upstream of its own. */
export async function startExtended({
  upstream: fetchUpstream,
  extend,
  settings,
  environment,
}: Extension): Promise<ExtendedGateway> {
  const undo: (() => unknown)[] = [];
  afterAll(async () => {
    for (const step of undo.reverse()) await step();
  });
  const upstream = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: fetchUpstream });
  undo.push(() => upstream.stop(true));
  const { folder, remove } = freshFolder();
  undo.push(remove);
  copySources(folder);
  extend(folder);
  const config = join(folder, 'config.json');
  // A machine that does much else is no overload.
  const server = { overload: { lag_ms: 0 } };
  writeFileSync(config, JSON.stringify({ server, ...settings(upstream.url.origin) }));
  const gateway = await startProgram(['serve', '--port', '0', '--config', config], {
    folder,
    environment: { DRAGOMAN_DATA_DIR: join(folder, 'data'), ...environment },
    command: nodeLauncher(folder),
  });
  undo.push(() => gateway.stop());
  return {
    origin: gateway.origin,
    get: (path, key = KEYS.test) =>
      fetch(gateway.origin + path, { headers: { authorization: `Bearer ${key}` } }),
  };
}

/**
 * Starts a gateway with a new task.
 * @param file source of the task in this folder
 * @param task name of the task, which is also the output of its models
 * @param provider name of the upstream in the configuration
 * @param models endpoints of each model, which costs a dollar per million input tokens
 */
export function startWithTask(
  file: string,
  task: string,
  provider: string,
  upstream: Extension['upstream'],
  models: Readonly<Record<string, readonly (readonly [provider: string, model: string])[]>>,
  settings: JsonObject = {},
): Promise<ExtendedGateway> {
  return startExtended({
    upstream,
    extend(folder) {
      addFile(folder, file, `src/engine/tasks/${task}/index.ts`);
      insert(folder, 'src/engine/tasks/index.ts', [
        [
          "import { embeddings } from './embeddings/index.ts';\n",
          `import { ${task} } from './${task}/index.ts';\n`,
        ],
        ['readonly Task[] = [text,', ` ${task},`],
      ]);
    },
    settings: (origin) => ({
      server: { admin_key: KEYS.admin },
      keys: [
        { name: 'test', key: KEYS.test },
        { name: 'limited', key: KEYS.limited, limits: [{ requests: 1, per: 'day' }] },
        { name: 'poor', key: KEYS.poor, budgets: [{ usd: 0.000001, per: 'day' }] },
      ],
      providers: { [provider]: { api_key: 'none', protocols: { 'openai-chat': origin } } },
      models: Object.entries(models).map(([id, endpoints]) => ({
        id,
        output_modalities: [task],
        price: { input: 1, output: 0 },
        endpoints: endpoints.map(([of, model]) => ({ provider: of, model })),
      })),
      ...settings,
    }),
  });
}
