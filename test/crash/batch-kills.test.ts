// A batch when the process is killed again and again, at random moments: each line is answered in the end, once, and the ledger has every
// request that the upstream got. `DRAGOMAN_KILLS` says how often.
import { afterAll, expect, test } from 'bun:test';
import OpenAI, { toFile } from 'openai';
import { eventually, type Program } from '../support/program.ts';
import { randomFrom } from '../support/recordings/damage.ts';
import { at, type Json } from '../support/upstreams/json-path.ts';
import { endLeases } from '../support/storage/end-leases.ts';
import { KEY, killProgram, killScene } from './kill-scene.ts';

const ADMIN_KEY = 'sk-admin-test-0123456789';
const KILLS = Number(process.env['DRAGOMAN_KILLS'] ?? 1);
const SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1);
/** Lines that run at once, and as many as keep them busy until the last kill. */
const CONCURRENT = 10;
const LINES = 60 + KILLS * 60;
const random = randomFrom(SEED);
const scene = killScene();
let asked = 0;

const upstream = Bun.serve({
  port: 0,
  async fetch(request) {
    asked += 1;
    const { messages } = (await request.json()) as { messages: { content: string }[] };
    await Bun.sleep(20 + random(150));
    const message = { role: 'assistant', content: `Answer to ${messages[0]?.content}` };
    const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    return Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage });
  },
});

afterAll(() => upstream.stop(true));

function serve(): Promise<Program> {
  const protocols = { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` };
  const price = { input: 1, output: 4 };
  const config = {
    keys: [
      { name: 'test', key: KEY },
      { name: 'admin', key: ADMIN_KEY, roles: ['admin'] },
    ],
    providers: { up: { api_key: 'sk-test', protocols } },
    models: [{ id: 'up/m', endpoints: [{ provider: 'up', model: 'm', price }] }],
    batches: { concurrent: CONCURRENT, max_delay_ms: 0 },
  };
  return scene.serve(config);
}

function clientOf({ origin }: Program): OpenAI {
  return new OpenAI({ apiKey: KEY, baseURL: `${origin}/v1` });
}

async function recordsOf({ origin }: Program): Promise<number> {
  let records = 0;
  for (let after: string | undefined; ;) {
    const query = new URLSearchParams({ limit: '100', ...(after !== undefined && { after }) });
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const answer = await fetch(`${origin}/v1/management/generations?${query}`, { headers });
    const page = (await answer.json()) as Json;
    const data = at(page, 'data') as Json[];
    records += data.length;
    if (at(page, 'has_more') !== true) return records;
    after = String(at(data.at(-1) ?? null, 'id'));
  }
}

test.skipIf(process.platform !== 'linux')(
  `${KILLS} kills: every line has one answer, and the ledger has each request once`,
  async () => {
    const ids = Array.from({ length: LINES }, (_, line) => `line-${line}`);
    const lines = ids.map((id) => {
      const body = { model: 'up/m', messages: [{ role: 'user', content: id }] };
      return JSON.stringify({ custom_id: id, method: 'POST', url: '/v1/chat/completions', body });
    });
    let gateway = await serve();
    const client = clientOf(gateway);
    const file = await toFile(Buffer.from(lines.join('\n')), 'in.jsonl');
    const { id: input } = await client.files.create({ file, purpose: 'batch' });
    const { id } = await client.batches.create({
      input_file_id: input,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    for (let kill = 0; kill < KILLS; kill += 1) {
      await Bun.sleep(random(900));
      await killProgram(gateway);
      endLeases(`${scene.folder}/data`);
      gateway = await serve();
      const begun = asked;
      await eventually(
        'it goes on',
        async () => {
          const batch = await clientOf(gateway).batches.retrieve(id);
          return asked > begun || batch.status === 'completed';
        },
        60_000,
      );
    }
    const after = clientOf(gateway);
    await eventually(
      'it ends',
      async () => (await after.batches.retrieve(id)).status === 'completed',
      120_000,
    );
    const batch = await after.batches.retrieve(id);
    expect(batch.request_counts).toEqual({ total: LINES, completed: LINES, failed: 0 });
    const output = await (await after.files.content(batch.output_file_id ?? '')).text();
    const answers = output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Json);
    expect(answers.map((answer) => at(answer, 'custom_id'))).toEqual(ids);
    for (const answer of answers)
      expect(at(answer, 'response', 'body', 'choices', 0, 'message', 'content')).toBe(
        `Answer to ${String(at(answer, 'custom_id'))}`,
      );
    let recorded = 0;
    await eventually(
      'all is recorded',
      async () => (recorded = await recordsOf(gateway)) >= asked,
      30_000,
    ).catch(() => {});
    expect({ asked, recorded }).toEqual({ asked, recorded: asked });
  },
  600_000 + KILLS * 60_000,
);
