// Large batch files: their check takes time in proportion to their bytes, and memory that does not grow with them.
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usedMs } from '../../../src/base/runtime/machine.ts';
import { TEST_KEY } from '../../support/harness.ts';
import { eventually } from '../../support/program.ts';
import { isWhole } from '../../support/share.ts';
import { startStateful } from '../../support/storage/state-seed.ts';

const MB = 1_000_000;
const LINE_BYTES = 5_000;
/** One that warms up the process, half of the largest, and the largest: just below the default maximum of 200 MB. */
const SIZES = [20 * MB, 97 * MB, 194 * MB] as const;
/** Twice, and what measuring adds. */
const MOST_TIMES = 2.5;
/**
 * Memory for one check, which is less than the file: a chunk of it, a line, and short-lived objects until they are collected.
 * Alone on a machine it is 70 MB, and up to 130 MB where the collector waits for a core.
 */
const MOST_MEMORY = 160 * MB;
const CHECKED_MS = 600_000;

const folder = mkdtempSync(join(tmpdir(), 'dragoman-batch-size-'));
const upstream = Bun.serve({ port: 0, fetch: () => new Promise<Response>(() => {}) });
afterAll(async () => {
  await upstream.stop(true);
  rmSync(folder, { recursive: true });
});

async function fileOf(bytes: number): Promise<string> {
  const path = join(folder, `${bytes}.jsonl`);
  const writer = Bun.file(path).writer();
  const lines = Math.floor(bytes / LINE_BYTES);
  for (let number = 0; number < lines; number += 1) {
    const line = (content: string): string => {
      const body = { model: 'up/m', messages: [{ role: 'user', content }] };
      const request = { custom_id: `line-${number}`, method: 'POST', url: '/v1/chat/completions', body };
      return `${JSON.stringify(request)}\n`;
    };
    await writer.write(line('x'.repeat(LINE_BYTES - line('').length)));
  }
  await writer.end();
  return path;
}

test.skipIf(!isWhole)(
  'a file twice as large takes twice the time, and no more memory',
  async () => {
    await using stateful = await startStateful({
      providers: {
        up: { api_key: 'x', protocols: { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` } },
      },
      models: [{ id: 'up/m', endpoints: [{ provider: 'up', model: 'm' }] }],
      batches: { max_delay_ms: 0, concurrent: 1 },
      state: { max_mb_per_key: 1_000 },
    });
    const { client, gateway } = stateful;
    const times: number[] = [];
    for (const bytes of SIZES) {
      const form = new FormData();
      form.set('purpose', 'batch');
      form.set('file', Bun.file(await fileOf(bytes)), 'in.jsonl');
      const made = await fetch(`${gateway.baseURL}/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TEST_KEY}` },
        body: form,
      });
      const { id: input, bytes: stored } = (await made.json()) as { id: string; bytes: number };
      expect(stored).toBe(bytes);
      Bun.gc(true);
      const before = process.memoryUsage().rss;
      const beganMs = usedMs();
      const { id } = await client.batches.create({
        input_file_id: input,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
      });
      let peak = 0;
      await eventually(
        'the file is checked',
        async () => {
          peak = Math.max(peak, process.memoryUsage().rss - before);
          const { status, request_counts: counts } = await client.batches.retrieve(id);
          if (status === 'in_progress') expect(counts?.total).toBe(bytes / LINE_BYTES);
          return status === 'in_progress';
        },
        CHECKED_MS,
      );
      times.push(usedMs() - beganMs);
      expect(peak).toBeLessThan(MOST_MEMORY);
      await client.batches.cancel(id);
    }
    const [, half = 0, whole = 0] = times;
    expect(whole / half).toBeLessThan(MOST_TIMES);
  },
  2 * CHECKED_MS,
);
