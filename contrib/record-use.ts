// Runs a packed executable with typical requests, while the runtime records which code is used.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TIME_MS = 60_000;

const QUESTION = [{ role: 'user', content: 'What is 6 x 7?' }];
/** Requests in each protocol, relayed and translated. Each is sent with and without streaming. */
const REQUESTS: readonly (readonly [path: string, body: object])[] = [
  'sim/echo',
  'sim/responses',
  'sim/messages',
].flatMap((model) => [
  ['/v1/chat/completions', { model, messages: QUESTION }] as const,
  ['/v1/messages', { model, messages: QUESTION, max_tokens: 100 }] as const,
  ['/v1/responses', { model, input: 'What is 6 x 7?' }] as const,
]);

/**
 * Starts the gateway of an executable in a temporary folder, and sends it requests.
 * @param executable path of the executable
 * @param order file to which the runtime writes the used code
 * @throws Error if it does not start, respond or stop properly within a minute
 */
export async function recordUse(executable: string, order: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-pack-'));
  const key = `sk-${crypto.randomUUID()}`;
  const config = join(folder, 'dragoman.yaml');
  writeFileSync(config, 'logging: { level: warn }');
  const gateway = Bun.spawn([executable, 'serve', '--config', config, '--host', '127.0.0.1', '--port', '0'], {
    cwd: folder,
    env: { BUN_BYTECODE_ORDER_OUT: order, DRAGOMAN_DATA_DIR: join(folder, 'data'), DRAGOMAN_KEY: key },
    stdin: 'ignore',
    timeout: TIME_MS,
  });
  try {
    const origin = await originOf(gateway.stdout);
    for (const [path, body] of REQUESTS)
      for (const stream of [false, true]) {
        const answer = await fetch(origin + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...body, stream }),
        });
        await answer.bytes();
        if (!answer.ok) throw new Error(`the executable answered ${path} with status ${answer.status}`);
      }
    gateway.kill('SIGTERM');
    const code = await gateway.exited;
    if (code !== 0) throw new Error(`the executable exited with code ${code}`);
  } finally {
    gateway.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Origin of a gateway, from the first line it prints. The pipe stays open, and further output is not read. */
async function originOf(output: ReadableStream<Uint8Array>): Promise<string> {
  const reader = output.getReader();
  const decoder = new TextDecoder();
  let printed = '';
  for (;;) {
    const { value, done } = await reader.read();
    printed += decoder.decode(value, { stream: true });
    const origin = /^listening on (http:\S+)\n/.exec(printed)?.[1];
    if (origin !== undefined) return origin;
    if (done) throw new Error(`the executable did not start: ${printed}`);
  }
}
