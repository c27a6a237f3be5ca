// Cost of keeping a stream for resumption: CPU time of the gateway per chunk, for the same answers with and without
// `x-dragoman-resumable`, in alternation. Prints medians, and the median of the paired differences with quartiles. Run
// with `node bin/bun.mjs run bench/resumption.ts [turns] [chunks]`.
import { freshFolder, runtimePid, startProgram } from '../test/support/program.ts';
import { usedCpuMs } from './processes.ts';
import { quartiles } from './spread.ts';

const turns = Number(process.argv[2] ?? 12);
const chunks = Number(process.argv[3] ?? 400);
/** Concurrent answers, and consecutive ones of each, per turn. */
const CONCURRENT_REQUESTS = 64;
const IN_A_ROW = 2;
/** Milliseconds between two events of a stream, so that each is read and written separately. */
const PACE_MS = 3;

const event = (n: number): string =>
  `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"word ${n % 10} "},"finish_reason":null}]}\n\n`;
const LAST =
  'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

const encoder = new TextEncoder();
const upstream = Bun.serve({
  port: 0,
  fetch: () => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      // One event per write, as models send them.
      async pull(controller) {
        controller.enqueue(encoder.encode(sent < chunks ? event(sent) : LAST));
        if (sent++ >= chunks) controller.close();
        await new Promise((resolve) => setTimeout(resolve, PACE_MS));
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  },
});

const { folder, remove } = freshFolder();
const config = JSON.stringify({
  keys: [{ name: 'bench', key: 'sk-test' }],
  logging: { level: 'error' },
  providers: {
    up: { api_key: 'sk-test', protocols: { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` } },
  },
});
await Bun.write(`${folder}/dragoman.yaml`, config);
const gateway = await startProgram(['serve', '--port', '0', '--data-dir', `${folder}/data`], { folder });
const pid = runtimePid(gateway.pid);

async function ask(isKept: boolean): Promise<void> {
  const response = await fetch(`${gateway.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer sk-test',
      'content-type': 'application/json',
      ...(isKept && { 'x-dragoman-resumable': 'true' }),
    },
    body: JSON.stringify({ model: 'up/m', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  for await (const _ of response.body ?? []);
}

async function turn(isKept: boolean): Promise<number> {
  const before = usedCpuMs(pid);
  for (let n = 0; n < IN_A_ROW; n += 1)
    await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, () => ask(isKept)));
  return ((usedCpuMs(pid) - before) / (IN_A_ROW * CONCURRENT_REQUESTS * chunks)) * 1e3;
}

await turn(true);
await turn(false);
const off: number[] = [];
const on: number[] = [];
for (let n = 0; n < turns; n += 1) {
  // The order alternates, so that a drift of the machine favours neither.
  const isKeptFirst = n % 2 === 1;
  const first = await turn(isKeptFirst);
  const second = await turn(!isKeptFirst);
  off.push(isKeptFirst ? second : first);
  on.push(isKeptFirst ? first : second);
}
const shares = quartiles(on.map((micros, n) => (micros / (off[n] ?? Number.NaN) - 1) * 100));
console.log(
  `off ${quartiles(off).middle.toFixed(2)} µs per chunk, on ${quartiles(on).middle.toFixed(2)} µs per chunk; ` +
    `paired difference ${shares.middle.toFixed(1)} % (${shares.low.toFixed(1)}…${shares.high.toFixed(1)})`,
);
await gateway.stop();
await upstream.stop(true);
remove();
