// LiteLLM's proxy for tests, in front of the simulated provider: a server that nobody here wrote. It is started on a free port
// in a temporary folder, and stopped by its pid.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listenSim } from '../../../src/app/cli/commands/sim-server.ts';
import { freePort } from '../free-port.ts';
import { programIn, run } from './real-program.ts';

/** The program; null where the environment does not name it: these tests skip then. */
export const LITELLM: string | null = programIn('DRAGOMAN_LITELLM', "LiteLLM's proxy");

/** The name under which the proxy lists its model. */
export const MODEL = 'chat';
/** A model that it lists and its own upstream does not have. */
export const GONE = 'gone';

/** Starts the provider and the proxy. */
export async function startLiteLlm(): Promise<{ readonly origin: string; stop(): Promise<void> }> {
  const sim = listenSim('127.0.0.1', 0);
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-litellm-'));
  const served = (name: string, model: string): object => ({
    model_name: name,
    litellm_params: {
      model: `openai/${model}`,
      api_base: `http://127.0.0.1:${sim.port}/openai/v1`,
      api_key: 'sk-test-sim',
    },
  });
  const config = {
    model_list: [served(MODEL, 'chat'), served(GONE, 'nothing')],
    litellm_settings: { drop_params: true, num_retries: 0 },
    router_settings: { num_retries: 0, disable_cooldowns: true },
    general_settings: { master_key: 'sk-test', dangerously_permit_weak_or_unset_master_key: true },
  };
  const path = join(folder, 'config.yaml');
  writeFileSync(path, JSON.stringify(config));
  const port = await freePort();
  const args = ['--config', path, '--host', '127.0.0.1', '--port', String(port)];
  // It would fetch prices and say that it was started.
  const environment = {
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    LITELLM_TELEMETRY: 'False',
    NO_PROXY: '127.0.0.1',
  };
  const end = await run(LITELLM ?? '', args, /Uvicorn running on/, environment);
  return {
    origin: `http://127.0.0.1:${port}`,
    async stop() {
      await end();
      await sim.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
