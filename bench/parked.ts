// Cost of a background response while it is queued: private memory of the gateway for each, and the rate at which
// they are accepted. With `running`, cost of a response whose model sends nothing: memory, and CPU time of all of
// them per second. Run with `node bin/bun.mjs run bench/parked.ts [responses] [running]`.
import { readFileSync } from 'node:fs';
import { freshFolder, runtimePid, startProgram } from '../test/support/program.ts';
import { usedCpuMs } from './processes.ts';

const answers = Number(process.argv[2] ?? 10_000);
const isRunning = process.argv[3] === 'running';
/** Number of requests before the first measurement, for memory that is allocated once. */
const WARM_UP = 500;
const CONCURRENT_REQUESTS = 32;
/** Milliseconds until memory of finished requests is released. */
const REST_MS = 12_000;
/** Milliseconds for which CPU time is measured. */
const WATCHED_MS = 30_000;
const LOOK_MS = 200;
/** Longer than the measurement. */
const SILENCE_MS = 3_600_000;
const FIRST =
  'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"It"},"finish_reason":null}]}\n\n';

/** Number of started responses. */
let begun = 0;
/** A model that sends one word, and then nothing. */
const upstream = Bun.serve({
  port: 0,
  idleTimeout: 0,
  fetch() {
    begun += 1;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(FIRST)),
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  },
});

const { folder, remove } = freshFolder();
const config = {
  keys: [{ name: 'bench', key: 'sk-test' }],
  logging: { level: 'error' },
  providers: {
    up: { api_key: 'sk-test', protocols: { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` } },
  },
  routing: { timeouts: { idle_ms: SILENCE_MS } },
  jobs: {
    // With a concurrency of 0, responses stay queued.
    concurrent: isRunning ? answers + WARM_UP : 0,
    concurrent_per_project: answers + WARM_UP,
    max_open: answers + WARM_UP,
  },
};
await Bun.write(`${folder}/dragoman.yaml`, JSON.stringify(config));
const gateway = await startProgram(['serve', '--port', '0', '--data-dir', `${folder}/data`], { folder });
const pid = runtimePid(gateway.pid);

/** Bytes of memory that are not shared with other processes. */
function privateBytes(): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const of = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
  return (of('Private_Dirty') + of('Private_Clean')) * 1024;
}

async function park(): Promise<void> {
  const response = await fetch(`${gateway.origin}/v1/responses`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({
      model: isRunning ? 'up/m' : 'sim/chat',
      input: 'What is the longest river of Finland?',
      background: true,
    }),
  });
  if (response.status !== 200) throw new Error(await response.text());
  await response.text();
}

async function parkAll(count: number): Promise<number> {
  const beganAt = performance.now();
  let left = count;
  const one = async (): Promise<void> => {
    while (left-- > 0) await park();
  };
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, one));
  parked += count;
  while (isRunning && begun < parked) await Bun.sleep(LOOK_MS);
  return performance.now() - beganAt;
}

let parked = 0;
await parkAll(WARM_UP);
await Bun.sleep(REST_MS);
const before = privateBytes();
const ms = await parkAll(answers);
await Bun.sleep(REST_MS);
const after = privateBytes();
console.log(
  `${answers} responses that ${isRunning ? 'run' : 'wait'}: ${((after - before) / answers / 1024).toFixed(2)} kB of private memory each (${(before / 1e6).toFixed(1)} MB before, ${(after / 1e6).toFixed(1)} MB after); ${Math.round((answers / ms) * 1000)} were taken in a second`,
);
const cpuBefore = usedCpuMs(pid);
await Bun.sleep(WATCHED_MS);
console.log(`${((usedCpuMs(pid) - cpuBefore) / WATCHED_MS).toFixed(3)} s of CPU per second while idle`);
await gateway.stop('SIGKILL');
await upstream.stop(true);
remove();
