// A batch at its vendor's batch API when the process is killed: while its submission is on its way, and while its results are read. It is
// submitted once, each line has one answer, and the ledger has what the vendor charged.
import { afterAll, expect, test } from 'bun:test';
import OpenAI, { toFile } from 'openai';
import { createSim } from '../../sim/index.ts';
import { eventually, type Program } from '../support/program.ts';
import { at, type Json } from '../support/upstreams/json-path.ts';
import { endLeases } from '../support/storage/end-leases.ts';
import { KEY, killProgram, killScene } from './kill-scene.ts';

const ADMIN_KEY = 'sk-admin-test-0123456789';
const LINES = 40;
/** USD per million tokens, of which lines at the vendor cost half. */
const PRICE = { input: 1, output: 4 };
/** Vendors by the model that is asked: their protocol and base URL, how a submission ends, and a request for results. */
const VENDORS = {
  'up/chat': {
    protocol: 'openai-chat',
    base: '/openai/v1',
    submits: /^POST .*\/batches$/,
    reads: /^GET .*\/content$/,
  },
  'google/gemini': {
    protocol: 'gemini',
    base: '/google/v1beta',
    submits: /^POST .*:batchGenerateContent$/,
    reads: /^GET .*\/batches\/./,
  },
} as const;
type Model = keyof typeof VENDORS;
const scene = killScene();
const sim = createSim({ batchMs: 500 });
const asked: string[] = [];
/** Called once with the first request that ends so, after the vendor has served it. */
let moment: { readonly ends: RegExp; readonly happens: () => void } | undefined;

const vendor = Bun.serve({
  port: 0,
  async fetch(request) {
    const asking = `${request.method} ${new URL(request.url).pathname}`;
    asked.push(asking);
    const answer = await sim.fetch(request);
    if (!moment?.ends.test(asking)) return answer;
    const { happens } = moment;
    moment = undefined;
    happens();
    // The process that asked gets none of it.
    return new Promise<Response>(() => {});
  },
});

afterAll(() => vendor.stop(true));

function serve(model: Model): Promise<Program> {
  const { protocol, base } = VENDORS[model];
  const protocols = { [protocol]: `http://127.0.0.1:${vendor.port}${base}` };
  const [provider, name] = model.split('/') as [string, string];
  const config = {
    keys: [
      { name: 'test', key: KEY },
      { name: 'admin', key: ADMIN_KEY, roles: ['admin'] },
    ],
    providers: { [provider]: { api_key: 'sk-test', batch: 'vendor', batch_price_factor: 0.5, protocols } },
    models: [{ id: model, endpoints: [{ provider, model: name, price: PRICE }] }],
    batches: { max_delay_ms: 0, vendor_poll_s: 0.1 },
  };
  return scene.serve(config, `data-${provider}`);
}

/** Kills the process at a moment, and starts another one. */
async function killAt(
  ends: RegExp,
  gateway: Program,
  model: Model,
  begin: () => Promise<unknown>,
): Promise<Program> {
  const reached = new Promise<void>((happens) => {
    moment = { ends, happens };
  });
  await begin();
  await reached;
  await killProgram(gateway);
  endLeases(`${scene.folder}/data-${model.slice(0, model.indexOf('/'))}`);
  return serve(model);
}

async function records({ origin }: Program): Promise<Json[]> {
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const answer = await fetch(`${origin}/v1/management/generations?limit=100`, { headers });
  return at((await answer.json()) as Json, 'data') as Json[];
}

test.skipIf(process.platform !== 'linux').each(['up/chat', 'google/gemini'] as const)(
  'a killed process leaves its vendor’s batch to the next: it is submitted once, and charged once: %s',
  async (model) => {
    const { submits, reads } = VENDORS[model];
    asked.length = 0;
    const ids = Array.from({ length: LINES }, (_, line) => `line-${line}`);
    const lines = ids.map((id) => {
      const body = { model, messages: [{ role: 'user', content: `This is ${id}.` }] };
      return JSON.stringify({ custom_id: id, method: 'POST', url: '/v1/chat/completions', body });
    });
    const clientOf = ({ origin }: Program): OpenAI => new OpenAI({ apiKey: KEY, baseURL: `${origin}/v1` });
    const first = await serve(model);
    let id = '';
    const second = await killAt(submits, first, model, async () => {
      const client = clientOf(first);
      const file = await toFile(Buffer.from(lines.join('\n')), 'in.jsonl');
      const { id: input } = await client.files.create({ file, purpose: 'batch' });
      ({ id } = await client.batches.create({
        input_file_id: input,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
      }));
    });
    const third = await killAt(reads, second, model, async () => {});
    const after = clientOf(third);
    await eventually(
      'it ends',
      async () => (await after.batches.retrieve(id)).status === 'completed',
      120_000,
    );
    const batch = await after.batches.retrieve(id);
    expect(batch.request_counts).toEqual({ total: LINES, completed: LINES, failed: 0 });
    expect(asked.filter((each) => submits.test(each))).toHaveLength(1);
    expect(asked.filter((each) => /\/chat\/completions$|:generateContent$/.test(each))).toEqual([]);
    const output = await (await after.files.content(batch.output_file_id ?? '')).text();
    const answers = output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Json);
    expect(answers.map((answer) => at(answer, 'custom_id'))).toEqual(ids);
    const usage = (name: string): number =>
      answers.reduce<number>((sum, answer) => sum + Number(at(answer, 'response', 'body', 'usage', name)), 0);
    const usd = (usage('prompt_tokens') * PRICE.input + usage('completion_tokens') * PRICE.output) / 2e6;
    const kept = await records(third);
    expect(kept).toHaveLength(LINES);
    expect(kept.reduce<number>((sum, each) => sum + Number(at(each, 'cost', 'usd')), 0)).toBeCloseTo(usd, 9);
    expect(batch).toMatchObject({ cost: expect.closeTo(usd, 9) as unknown });
    await third.stop('SIGKILL');
  },
  300_000,
);
