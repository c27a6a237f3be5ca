// A process that is killed in the middle of streams: whoever starts after it knows what they had cost, once, in the ledger
// and in the budget. DRAGOMAN_KILLS says how often; once takes seconds, 200 times a few minutes.
import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from '../support/program.ts';
import { at, type Json } from '../support/upstreams/json-path.ts';
import { headers, KEY, killProgram, killScene } from './kill-scene.ts';

const CLIENTS = 20;
const KILLS = Number(process.env['DRAGOMAN_KILLS'] ?? 1);
/** Pieces that each client reads at most before a kill. */
const MOST_PIECES = 60;
/** Dollars of a token of an answer, and characters that are one by estimate. */
const TOKEN_USD = 4 / 1e6;
const CHARS = 4;

const scene = killScene();

function serve(usd: number): Promise<Program> {
  return scene.serve({ keys: [{ name: 'test', key: KEY, budgets: [{ usd, per: 'month' }] }] });
}

/** Reads a stream until it breaks. @returns its id, and the characters of its text */
async function read(origin: string, received: () => void): Promise<{ id: string; chars: number }> {
  const body = {
    model: 'sim/paced-2',
    stream: true,
    messages: [{ role: 'user', content: 'write 900 words' }],
  };
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  let chars = 0;
  let rest = '';
  const decoder = new TextDecoder();
  try {
    for await (const bytes of response.body ?? []) {
      const frames = (rest + decoder.decode(bytes as Uint8Array, { stream: true })).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) {
        if (!frame.startsWith('data: {')) continue;
        const content = at(JSON.parse(frame.slice(6)) as Json, 'choices', 0, 'delta', 'content');
        if (typeof content === 'string') chars += content.length;
      }
      if (chars > 0) received();
    }
  } catch {
    // The process is dead.
  }
  return { id: response.headers.get('x-request-id') ?? '', chars };
}

test.skipIf(process.platform !== 'linux')(
  'after SIGKILL during streams, the budget includes their cost once',
  async () => {
    const cut: { id: string; chars: number }[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const gateway = await serve(100);
      // At any time of the streams; the first late, so that there is something to count.
      const most = MOST_PIECES * CLIENTS;
      let left = kill === 0 ? most : 1 + Math.floor(Math.random() * most);
      const receiving = new Set<number>();
      // Once all of them hear something: whoever has no id yet cannot be asked for.
      const received = (client: number): void => {
        receiving.add(client);
        if (receiving.size === CLIENTS) left -= 1;
        if (left === 0) void killProgram(gateway);
      };
      const clients = Array.from({ length: CLIENTS }, (_, n) => read(gateway.origin, () => received(n)));
      cut.push(...(await Promise.all(clients)));
      await killProgram(gateway);
    }

    // A start that is killed right after it has counted must not count again.
    await killProgram(await serve(100));
    const gateway = await serve(100);
    let spent = 0;
    for (const { id, chars } of cut) {
      const found = await fetch(`${gateway.origin}/v1/generation?id=${id}`, { headers });
      const record = (await found.json()) as Json;
      const usd = Number(at(record, 'usage'));
      expect({ id, status: found.status }).toEqual({ id, status: 200 });
      // All that a client has was counted before it was sent, and little that none has.
      expect(usd).toBeGreaterThanOrEqual((chars / CHARS) * TOKEN_USD);
      expect(usd).toBeLessThan((chars / CHARS + 700) * TOKEN_USD);
      spent += usd;
    }
    expect(cut.some(({ chars }) => chars > 40)).toBe(true);
    await killProgram(gateway);
    const again = await serve(0.000_000_001);
    const body = { model: 'sim/echo', messages: [{ role: 'user', content: 'a' }] };
    const refused = await fetch(`${again.origin}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    expect(refused.status).toBe(402);
    const [, used] = /is reached: \$(\S+) used,/.exec(await refused.text()) ?? [];
    expect(Number(used)).toBeCloseTo(spent, 8);
    await killProgram(again);
    expect(
      readdirSync(join(scene.folder, 'data', 'running')).filter((name) => name.endsWith('.running')).length,
    ).toBeLessThan(2);
  },
  60_000 + KILLS * 5_000,
);
