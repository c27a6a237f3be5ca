// Batches next to interactive requests: how much the batch slows them down, and its throughput compared with the same
// requests sent interactively. Run with `node bin/bun.mjs run bench/batch.ts [lines] [turns]`.
import OpenAI, { toFile } from 'openai';
import { freshFolder, startProgram } from '../test/support/program.ts';
import { quantile } from './steady.ts';

const lines = Number(process.argv[2] ?? 2_000);
const turns = Number(process.argv[3] ?? 5);
const CONCURRENT = 20;
/** Latency of the upstream in milliseconds, on which a batch spends most of its time. */
const ANSWER_MS = 50;
/** Measured interactive requests per second. */
const PER_SECOND = 100;

const upstream = Bun.serve({
  port: 0,
  async fetch() {
    await Bun.sleep(ANSWER_MS);
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }];
    const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
    return Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage });
  },
});
const { folder, remove } = freshFolder();
const config = {
  keys: [{ name: 'bench', key: 'sk-test' }],
  logging: { level: 'error' },
  providers: {
    up: { api_key: 'sk-test', protocols: { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` } },
  },
  models: [{ id: 'up/m', endpoints: [{ provider: 'up', model: 'm', price: { input: 1, output: 1 } }] }],
  batches: { concurrent: CONCURRENT, max_delay_ms: Number(process.env['MAX_DELAY_MS'] ?? 0) },
};
await Bun.write(`${folder}/dragoman.yaml`, JSON.stringify(config));
const gateway = await startProgram(['serve', '--port', '0', '--data-dir', `${folder}/data`], { folder });
const client = new OpenAI({ apiKey: 'sk-test', baseURL: `${gateway.origin}/v1` });
const body = { model: 'up/m', messages: [{ role: 'user', content: 'Hello' }] };

async function ask(): Promise<number> {
  const beganAt = performance.now();
  const response = await fetch(`${gateway.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.text();
  return performance.now() - beganAt;
}

/** Latencies of interactive requests until `done` settles, in milliseconds. */
async function interactive(done: Promise<unknown>): Promise<number[]> {
  let isOver = false;
  void done.finally(() => (isOver = true));
  const times: Promise<number>[] = [];
  while (!isOver) {
    times.push(ask());
    await Bun.sleep(1000 / PER_SECOND);
  }
  return Promise.all(times);
}

/** Throughput of a batch in lines per second. */
async function batch(): Promise<number> {
  const text = Array.from({ length: lines }, (_, line) =>
    JSON.stringify({ custom_id: `${line}`, method: 'POST', url: '/v1/chat/completions', body }),
  ).join('\n');
  const file = await client.files.create({
    file: await toFile(Buffer.from(text), 'in.jsonl'),
    purpose: 'batch',
  });
  const beganAt = performance.now();
  const { id } = await client.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  });
  for (;;) {
    await Bun.sleep(100);
    const { status, request_counts: counts } = await client.batches.retrieve(id);
    if (status !== 'completed') continue;
    if (counts?.completed !== lines) throw new Error(JSON.stringify(counts));
    return (lines / (performance.now() - beganAt)) * 1000;
  }
}

/** Throughput of the same requests sent interactively, with the same concurrency. */
async function sent(): Promise<number> {
  const beganAt = performance.now();
  let left = lines;
  const one = async (): Promise<void> => {
    while (left-- > 0) await ask();
  };
  await Promise.all(Array.from({ length: CONCURRENT }, one));
  return (lines / (performance.now() - beganAt)) * 1000;
}

const at = (of: readonly number[], q: number): number =>
  quantile(
    of.toSorted((a, b) => a - b),
    q,
  );
/** Median and quartiles. */
const spread = (of: readonly number[], digits: number): string =>
  `${at(of, 0.5).toFixed(digits)} (${at(of, 0.25).toFixed(digits)} to ${at(of, 0.75).toFixed(digits)})`;
await sent();
await batch();
const rates = { sent: [] as number[], batch: [] as number[] };
const p99 = { alone: [] as number[], beside: [] as number[] };
for (let turn = 0; turn < turns; turn += 1) {
  rates.sent.push(await sent());
  rates.batch.push(await batch());
  const aloneMs = (lines / CONCURRENT) * ANSWER_MS;
  p99.alone.push(at(await interactive(Bun.sleep(aloneMs)), 0.99));
  p99.beside.push(at(await interactive(batch()), 0.99));
}
/** Ratios of all turns, in percent. */
const share = (of: readonly number[], by: readonly number[]): number[] =>
  of.map((value, turn) => (value / (by[turn] ?? NaN)) * 100);
console.log(
  `throughput: ${spread(rates.batch, 0)} lines per second as a batch, ${spread(rates.sent, 0)} as requests: ${spread(share(rates.batch, rates.sent), 0)} %`,
);
console.log(
  `interactive p99: ${spread(p99.alone, 1)} ms alone, ${spread(p99.beside, 1)} ms during a batch: ${spread(share(p99.beside, p99.alone), 0)} %; medians and quartiles of ${turns} turns`,
);
await gateway.stop();
await upstream.stop(true);
remove();
