// Uses a packed executable as clients do, which has the runtime write down what code a usual start and usual requests run.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TIME_MS = 60_000;

const QUESTION = [{ role: 'user', content: 'What is 6 x 7?' }];
/** Requests, whole and streamed: each protocol relayed, and each translated. */
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
 * Starts a gateway of an executable, in a folder of its own that is removed, and has it answer.
 * @param executable its path
 * @param order where the runtime writes what was used
 * @throws Error where it does not start, answer, or end as it should within a minute
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
        if (!answer.ok) throw new Error(`the executable answered ${path} with ${answer.status}`);
      }
    gateway.kill('SIGTERM');
    const code = await gateway.exited;
    if (code !== 0) throw new Error(`the executable ended with ${code}`);
  } finally {
    gateway.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Address of a gateway: the first line that it prints. The rest is left in its pipe, which stays open. */
async function originOf(output: ReadableStream<Uint8Array>): Promise<string> {
  const reader = output.getReader();
  const decoder = new TextDecoder();
  let printed = '';
  for (;;) {
    const { value, done } = await reader.read();
    printed += decoder.decode(value, { stream: true });
    const origin = /^listening on (http:\S+)\n/.exec(printed)?.[1];
    if (origin !== undefined) return origin;
    if (done) throw new Error(`the executable does not start: ${printed}`);
  }
}
