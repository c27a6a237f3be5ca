// Large batch files: their check takes time in proportion to their bytes, and memory that does not grow with them. The gateway is a
// process of its own, whose time and memory the kernel counts (Linux).
import { afterAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import { eventually, freshFolder, NO_OVERLOAD, runtimePid, startProgram } from '../../support/program.ts';
import { isWhole } from '../../support/share.ts';

const MB = 1_000_000;
const LINE_BYTES = 5_000;
/** One that warms up the process, half of the largest, and the largest: just below the default maximum of 200 MB. */
const SIZES = [20 * MB, 97 * MB, 194 * MB] as const;
/** Twice, and what measuring adds. */
const MOST_TIMES = 2.5;
/** Memory for one check: a chunk of the file, a line, and short-lived objects until they are collected. */
const MOST_MEMORY = 128 * MB;
const CHECKED_MS = 600_000;
const KEY = 'sk-test-0123456789';

const { folder, remove } = freshFolder();
const upstream = Bun.serve({ port: 0, fetch: () => new Promise<Response>(() => {}) });
afterAll(async () => {
  await upstream.stop(true);
  remove();
});

/** CPU time of a process in ticks of the kernel. */
function usedTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

/** Bytes of a line of `/proc/PID/status`. */
function statusBytes(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const kb = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(
    readFileSync(`/proc/${pid}/status`, 'latin1'),
  )?.[1];
  return Number(kb) * 1024;
}

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

test.skipIf(!isWhole || process.platform !== 'linux')(
  'a file twice as large takes twice the time, and no more memory',
  async () => {
    const config = join(folder, 'dragoman.yaml');
    const settings = {
      // The upstream never responds.
      server: { drain_ms: 100, ...NO_OVERLOAD },
      keys: [{ name: 'test', key: KEY }],
      providers: {
        up: { api_key: 'x', protocols: { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` } },
      },
      models: [{ id: 'up/m', endpoints: [{ provider: 'up', model: 'm' }] }],
      batches: { max_delay_ms: 0, concurrent: 1 },
      state: { max_mb_per_key: 1_000 },
    };
    writeFileSync(config, JSON.stringify(settings));
    const data = join(folder, 'data');
    const program = await startProgram(['serve', '--port', '0', '--data-dir', data, '--config', config], {
      folder,
    });
    const pid = runtimePid(program.pid);
    const client = new OpenAI({ baseURL: `${program.origin}/v1`, apiKey: KEY });
    const times: number[] = [];
    for (const bytes of SIZES) {
      const form = new FormData();
      form.set('purpose', 'batch');
      form.set('file', Bun.file(await fileOf(bytes)), 'in.jsonl');
      const made = await fetch(`${program.origin}/v1/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}` },
        body: form,
      });
      const { id: input, bytes: stored } = (await made.json()) as { id: string; bytes: number };
      expect(stored).toBe(bytes);
      // The peak begins anew here.
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
      const before = statusBytes(pid, 'VmRSS');
      const began = usedTicks(pid);
      const { id } = await client.batches.create({
        input_file_id: input,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
      });
      await eventually(
        'the file is checked',
        async () => {
          const { status, request_counts: counts } = await client.batches.retrieve(id);
          if (status === 'in_progress') expect(counts?.total).toBe(bytes / LINE_BYTES);
          return status === 'in_progress';
        },
        CHECKED_MS,
      );
      times.push(usedTicks(pid) - began);
      expect(statusBytes(pid, 'VmHWM') - before).toBeLessThan(MOST_MEMORY);
      await client.batches.cancel(id);
    }
    const [, half = 0, whole = 0] = times;
    expect(whole / half).toBeLessThan(MOST_TIMES);
    await program.stop();
  },
  2 * CHECKED_MS,
);
