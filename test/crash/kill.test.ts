// The durability promise at the public seam: the real process is killed without warning while it answers, and after a
// restart every answer that a client had fully received has its record, with its cost, once.
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultLauncher, runtimePid } from '../support/program.ts';
import { at, list, type Json } from '../support/upstreams/json-path.ts';

const KEY = 'sk-test';
const folder = mkdtempSync(join(tmpdir(), 'dragoman-kill-'));

interface Running {
  readonly origin: string;
  /** SIGKILL for the process that serves; settles when it and its launcher are gone. */
  kill(): Promise<void>;
  /** Ends it as an operator would. @returns the exit code */
  stop(): Promise<number>;
}

const started: Running[] = [];
afterAll(async () => {
  for (const running of started) await running.kill();
  rmSync(folder, { recursive: true, force: true });
});

async function serve(): Promise<Running> {
  const child = Bun.spawn(
    [...defaultLauncher(), 'serve', '--port', '0', '--data-dir', join(folder, 'data')],
    {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, DRAGOMAN_KEY: KEY },
      stdout: 'pipe',
      stderr: 'inherit',
    },
  );
  let text = '';
  const decoder = new TextDecoder();
  const reader = child.stdout.getReader();
  while (!/listening on \S+\n/.test(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`it did not start: ${text}`);
    text += decoder.decode(value, { stream: true });
  }
  reader.releaseLock();
  const running: Running = {
    origin: /listening on (\S+)\n/.exec(text)?.[1] ?? '',
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      process.kill(runtimePid(child.pid), 'SIGKILL');
      await child.exited;
    },
    async stop() {
      child.kill('SIGTERM');
      return child.exited;
    },
  };
  started.push(running);
  return running;
}

const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };

/** One answer, read to its end. @returns its id; null when it was not received in full */
async function receive(origin: string, model: string, stream: boolean): Promise<string | null> {
  const body = JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'count to 30' }] });
  try {
    const response = await fetch(`${origin}/v1/chat/completions`, { method: 'POST', headers, body });
    const text = await response.text();
    const complete = stream ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}');
    return complete && response.status === 200 ? response.headers.get('x-request-id') : null;
  } catch {
    return null;
  }
}

test.skipIf(process.platform !== 'linux')(
  'SIGKILL loses no record of an answer that was received',
  async () => {
    const received = new Map<string, string>();
    const variants = ['sim/chat', 'sim/responses', 'sim/messages'].flatMap((model) =>
      [true, false].map((stream) => ({ model, stream })),
    );
    for (const enough of [1, 40, 150]) {
      const gateway = await serve();
      let count = 0;
      let dead = false;
      await Promise.all(
        Array.from({ length: 16 }, async (_, client) => {
          for (let turn = client; !dead; turn++) {
            const { model = '', stream = false } = variants[turn % variants.length] ?? {};
            const id = await receive(gateway.origin, model, stream);
            if (id === null) continue;
            received.set(id, model);
            count++;
            // Not awaited: the other clients go on asking while the process dies.
            if (count === enough) void gateway.kill().then(() => (dead = true));
          }
        }),
      );
      expect(count).toBeGreaterThanOrEqual(enough);
    }

    const gateway = await serve();
    const records = await Promise.all(
      [...received].map(async ([id, model]) => {
        const response = await fetch(`${gateway.origin}/v1/generation?id=${id}`, { headers });
        const record = (await response.json()) as Json;
        const attempts = list(record, 'attempts');
        return {
          id: at(record, 'id') === id,
          model: at(record, 'model') === model,
          complete: at(record, 'finishReason') === 'stop' && at(record, 'error') === null,
          attempts: attempts.length,
          // The cost of the one attempt, counted once.
          cost: Number(at(record, 'usage')) > 0 && at(record, 'usage') === at(attempts[0], 'cost', 'usd'),
        };
      }),
    );
    const good = { id: true, model: true, complete: true, attempts: 1, cost: true };
    expect(records.filter((record) => JSON.stringify(record) !== JSON.stringify(good))).toEqual([]);
    expect(records.length).toBeGreaterThanOrEqual(191);
    expect(await gateway.stop()).toBe(0);
  },
  40_000,
);
