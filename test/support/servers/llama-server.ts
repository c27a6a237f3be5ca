// llama.cpp's own server for tests, with a model of a few MB: a server that nobody here wrote. It is started on a free port
// in a temporary folder, and stopped by its pid.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { ForeignProcessorError, programIn, run } from './real-program.ts';
import { writeTinyModel } from './tiny-model.ts';

const WHAT = 'a real llama-server';
const program = programIn('DRAGOMAN_LLAMA_SERVER', WHAT);

export interface LlamaServer extends AsyncDisposable {
  /** `http://127.0.0.1:port` */
  readonly origin: string;
  stop(): Promise<void>;
}

/** The name under which the server lists its model. */
export const TINY = 'tiny';

/**
 * Starts one server.
 * @param context tokens of each of its two slots
 * @param flags further ones of its command line; `--models-dir` makes a router of it, whose folder is then ours
 */
export async function startLlamaServer({
  context = 2048,
  flags = [] as readonly string[],
  router = false,
} = {}): Promise<LlamaServer> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-llama-'));
  mkdirSync(join(folder, 'models'));
  const model = join(folder, 'models', `${TINY}.gguf`);
  writeTinyModel(model);
  const port = await freePort();
  const which = router ? ['--models-dir', join(folder, 'models')] : ['--model', model, '--alias', TINY];
  const all = [...which, '--host', '127.0.0.1', '--port', String(port), '--ctx-size', String(2 * context)];
  const args = [
    ...all,
    '--parallel',
    '2',
    '--threads',
    '1',
    '--threads-batch',
    '1',
    '--jinja',
    '--offline',
    ...flags,
  ];
  const stop = await run(program ?? '', args, /listening on http/);
  const end = async (): Promise<void> => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { origin: `http://127.0.0.1:${port}`, stop: end, [Symbol.asyncDispose]: end };
}

/** True when the server runs here. If not, a line says why these tests are skipped. Prebuilt ones need processors of one kind. */
async function runsHere(): Promise<boolean> {
  if (program === null) return false;
  try {
    await using _server = await startLlamaServer();
    return true;
  } catch (error) {
    if (!(error instanceof ForeignProcessorError)) throw error;
    console.log(`skipped: tests with ${WHAT} (it was compiled for another processor than this one)`);
    return false;
  }
}

/** True when the tests with this server run. */
export const HAS_LLAMA_SERVER: boolean = await runsHere();
