// A process of its own that stands by while the gateway is attacked: it asks for something small every 20 ms, through
// the gateway and an honest upstream that it brings along, and says how long the slowest answer took and how much
// memory the gateway had at most. Time in which the machine had no core for a thread of the gateway or of this process
// does not count: that is not the gateway's doing.
import { readdirSync, readFileSync } from 'node:fs';
import { residentMb } from '../../bench/processes.ts';

export const BYSTANDER_KEY = 'sk-test-bystander';

/** Orders of this process. */
export interface Orders {
  readonly origin: string;
  /** The gateway's process. */
  readonly pid: number;
}

/** Report of the time since it was last asked. */
export interface Seen {
  readonly answers: number;
  /** Answers that were not right. */
  readonly refused: number;
  readonly firstRefusal: string;
  readonly medianMs: number;
  readonly worstMs: number;
  /** Largest resident memory of the gateway; null where it cannot be read. */
  readonly mostMb: number | null;
}

const EVERY_MS = 20;
const LINUX = process.platform === 'linux';

/** Milliseconds for which each thread of a process was ready to run and had no core. */
type QueuedMs = ReadonlyMap<string, number>;

/** All threads count: the main thread sleeps while it waits for those that collect garbage. */
function queuedMs(pid: number | 'self'): QueuedMs {
  if (!LINUX) return new Map();
  const folder = `/proc/${pid}/task`;
  return new Map(readdirSync(folder).map((thread) => [thread, queuedMsOf(`${folder}/${thread}/schedstat`)]));
}

function queuedMsOf(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    // The thread has ended.
    return 0;
  }
}

/** Milliseconds that were added since `before`, in all threads. */
function queuedSince(before: QueuedMs, pid: number | 'self'): number {
  let sum = 0;
  for (const [thread, ms] of queuedMs(pid)) sum += Math.max(0, ms - (before.get(thread) ?? 0));
  return sum;
}

if (import.meta.main) {
  const answer = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'honest' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
  const upstream = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json(answer) });
  let times: number[] = [];
  let refused = 0;
  let firstRefusal = '';
  let mostMb: number | null = null;
  let asking: Promise<void> = Promise.resolve();

  const ask = async ({ origin, pid }: Orders, keepalive: boolean): Promise<void> => {
    const queued = [queuedMs(pid), queuedMs('self')] as const;
    const from = performance.now();
    const text = await fetch(`${origin}/v1/chat/completions`, {
      method: 'POST',
      keepalive,
      headers: { authorization: `Bearer ${BYSTANDER_KEY}`, 'content-type': 'application/json' },
      body: '{"model":"honest/m","messages":[{"role":"user","content":"Hello"}]}',
      signal: AbortSignal.timeout(60_000),
    }).then(
      (response) => response.text(),
      (error: unknown) => String(error),
    );
    const took = performance.now() - from;
    times.push(Math.max(0, took - queuedSince(queued[0], pid) - queuedSince(queued[1], 'self')));
    if (text.includes('"honest"')) return;
    refused++;
    firstRefusal ||= text.slice(0, 300);
  };

  const standBy = async (orders: Orders): Promise<void> => {
    if (LINUX) setInterval(() => (mostMb = Math.max(mostMb ?? 0, residentMb(orders.pid))), EVERY_MS);
    for (let number = 0; ; number++) {
      const pause = Bun.sleep(EVERY_MS);
      // Every fourth comes on a connection of its own, as somebody who was not here before.
      asking = ask(orders, number % 4 !== 0).catch(() => process.exit());
      await asking;
      await pause;
    }
  };

  const report = (): Seen => {
    const sorted = times.toSorted((one, other) => one - other);
    const seen = {
      answers: times.length,
      refused,
      firstRefusal,
      medianMs: sorted[sorted.length >> 1] ?? 0,
      worstMs: sorted.at(-1) ?? 0,
      mostMb,
    };
    times = [];
    refused = 0;
    firstRefusal = '';
    mostMb = null;
    return seen;
  };

  process.on('message', (message: Orders | 'report') => {
    // A request that waits now has waited, too.
    if (message === 'report') void asking.then(() => process.send?.(report()));
    else void standBy(message);
  });
  process.on('disconnect', () => process.exit());
  process.send?.({ upstream: upstream.url.origin });
}
