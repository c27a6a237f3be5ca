// Gemini's batches through the official SDK: any model in each request, in a body or in a file.
import { type BatchJob, GoogleGenAI, type InlinedRequest, JobState } from '@google/genai';
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TEST_KEY } from '../../support/harness.ts';
import { OTHER_KEY, startStateful } from '../../support/storage/state-seed.ts';
import { eventuallyFound } from '../../support/program.ts';

const stateful = await startStateful({ batches: { max_delay_ms: 0, max_requests: 50 } });
const httpOptions = { baseUrl: stateful.gateway.origin, retryOptions: { attempts: 1 } };
const ai = new GoogleGenAI({ apiKey: TEST_KEY, httpOptions });
const stranger = new GoogleGenAI({ apiKey: OTHER_KEY, httpOptions });
afterAll(() => stateful.close());

const ENDS = ['JOB_STATE_SUCCEEDED', 'JOB_STATE_FAILED', 'JOB_STATE_CANCELLED', 'JOB_STATE_EXPIRED'];

const ended = ({ name = '' }: BatchJob): Promise<BatchJob> =>
  eventuallyFound(
    'the batch ends',
    () => ai.batches.get({ name }),
    ({ state }) => ENDS.includes(String(state)),
  );

function request(key: string, over: Partial<InlinedRequest> = {}): InlinedRequest {
  return { contents: `This is\n${key}.`, metadata: { key }, ...over };
}

/** Status of a request that is refused. */
async function statusOf(asked: Promise<unknown>): Promise<number | undefined> {
  try {
    await asked;
  } catch (error) {
    return (error as { status?: number }).status;
  }
  return undefined;
}

/** Asks as `curl` would. */
async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; json: unknown }> {
  const response = await fetch(`${stateful.gateway.origin}/v1beta/${path}`, {
    ...init,
    headers: { 'x-goog-api-key': TEST_KEY, 'content-type': 'application/json' },
  });
  return { status: response.status, json: await response.json() };
}

async function upload(lines: readonly unknown[]): Promise<string> {
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  const file = await stateful.client.files.create({
    file: new File([text], 'in.jsonl'),
    purpose: 'batch',
  });
  return file.id;
}

describe('a batch of Gemini', () => {
  test('answers every valid request by any model, and reports the errors of the others', async () => {
    const made = await ai.batches.create({
      model: 'sim/gemini',
      src: [
        request('own', { config: { systemInstruction: 'Be brief.', maxOutputTokens: 50 } }),
        request('chat', { model: 'sim/chat' }),
        request('messages', { model: 'sim/messages' }),
        request('nobody', { model: 'nobody/knows' }),
        request('wrong', { config: { temperature: 'hot' as unknown as number } }),
      ],
      config: { displayName: 'demo' },
    });
    expect(made.name).toMatch(/^batches\/gbatch_\w+$/);
    expect(made).toMatchObject({
      displayName: 'demo',
      model: 'models/sim/gemini',
      state: 'JOB_STATE_PENDING',
    });
    const batch = await ended(made);
    expect(batch.state).toBe(JobState.JOB_STATE_SUCCEEDED);
    expect(batch.endTime).toBeString();
    const responses = batch.dest?.inlinedResponses ?? [];
    expect(responses.map(({ metadata }) => metadata)).toEqual(
      ['own', 'chat', 'messages', 'nobody', 'wrong'].map((key) => ({ key })),
    );
    for (const { response, error } of responses.slice(0, 3)) {
      expect(error).toBeUndefined();
      expect(response?.candidates?.[0]?.content?.parts?.[0]?.text).toBeString();
    }
    expect(responses[3]?.error).toMatchObject({ message: expect.stringContaining('nobody/knows') });
    expect(responses[4]?.error).toMatchObject({ code: 3, message: expect.stringContaining('temperature') });
    const { json } = await ask(made.name ?? '');
    expect(json).toMatchObject({
      done: true,
      metadata: {
        state: 'BATCH_STATE_SUCCEEDED',
        batchStats: {
          requestCount: '5',
          successfulRequestCount: '3',
          failedRequestCount: '2',
          pendingRequestCount: '0',
        },
      },
      response: { inlinedResponses: { inlinedResponses: expect.any(Array) } },
    });
    const { response, metadata } = json as { response: object; metadata: { output: object } };
    expect(response).toMatchObject(metadata.output);
  });

  test('takes a file, in either spelling, and gives a file that the SDK downloads', async () => {
    const contents = [{ parts: [{ text: 'What is 6 x 7?' }] }];
    const file = await upload([
      { key: 'a', request: { contents, generation_config: { max_output_tokens: 50 } } },
      { key: 'b', request: { contents, model: 'models/sim/chat' } },
      { key: 'a', request: { contents } },
      { key: 'c', request: 'none' },
    ]);
    const { json } = await ask('models/sim/gemini:batchGenerateContent', {
      method: 'POST',
      body: JSON.stringify({ batch: { display_name: 'x', input_config: { file_name: `files/${file}` } } }),
    });
    const batch = await ended(json as BatchJob);
    expect(batch).toMatchObject({ state: 'JOB_STATE_SUCCEEDED' });
    const results = batch.dest?.fileName ?? '';
    expect(results).toStartWith('files/');
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-batch-'));
    const downloadPath = join(folder, 'out.jsonl');
    await ai.files.download({ file: results, downloadPath });
    const lines = readFileSync(downloadPath, 'utf8').trimEnd().split('\n');
    rmSync(folder, { recursive: true });
    const ends = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(ends.map(({ key }) => key)).toEqual(['a', 'b', 'a', 'c']);
    for (const result of ends.slice(0, 2))
      expect(result).toMatchObject({ response: { candidates: [{ content: { role: 'model' } }] } });
    expect(ends[2]).toMatchObject({ error: { code: 3 } });
    expect(ends[3]).toMatchObject({ error: { code: 3, message: expect.stringContaining('request') } });
    // A file of the client's own outlives its batch.
    await ai.batches.delete({ name: batch.name ?? '' });
    expect((await stateful.client.files.retrieve(file)).id).toBe(file);
    expect(await statusOf(ai.files.download({ file: results, downloadPath }))).toBe(404);
  });

  test('creates embeddings for requests of the SDK', async () => {
    const made = await ai.batches.createEmbeddings({
      model: 'sim/embed',
      src: { inlinedRequests: { contents: ['one', 'two'], config: { outputDimensionality: 8 } } },
      config: { displayName: 'vectors' },
    });
    const batch = await ended(made);
    expect(batch).toMatchObject({ state: JobState.JOB_STATE_SUCCEEDED, displayName: 'vectors' });
    const responses = batch.dest?.inlinedEmbedContentResponses ?? [];
    expect(responses.map(({ response }) => response?.embedding?.values?.length)).toEqual([8, 8]);
    const request = { content: { parts: [{ text: 'three' }] } };
    const file = await upload([
      { key: 'a', request },
      { key: 'b', request: { contents: [] } },
    ]);
    const ofFile = await ended(
      await ai.batches.createEmbeddings({ model: 'sim/embed', src: { fileName: `files/${file}` } }),
    );
    expect(ofFile.dest?.fileName).toMatch(/^files\/[0-9a-f]{24}$/);
    const { json } = await ask(made.name ?? '');
    expect(json).toMatchObject({
      metadata: { '@type': expect.stringMatching(/\.EmbedContentBatch$/) },
      response: { '@type': expect.stringMatching(/\.EmbedContentBatchOutput$/) },
    });
  });

  test('is listed in pages, cancelled, deleted, and only visible to its key', async () => {
    const names: string[] = [];
    for (const key of ['a', 'b', 'c']) {
      const { name = '' } = await ai.batches.create({ model: 'sim/gemini', src: [request(key)] });
      names.unshift(name);
    }
    const pager = await ai.batches.list({ config: { pageSize: 2 } });
    expect(pager.page.map(({ name }) => name)).toEqual(names.slice(0, 2));
    expect((await pager.nextPage()).map(({ name }) => name)[0]).toBe(names[2]);
    const { json } = await ask('batches?pageToken=none');
    expect(json).toMatchObject({ error: { message: "pageToken: batch 'none' not found" } });
    const [name = ''] = names;
    await ai.batches.cancel({ name });
    await ended({ name });
    await ai.batches.cancel({ name });
    expect(await statusOf(stranger.batches.get({ name }))).toBe(404);
    expect(await statusOf(stranger.batches.cancel({ name }))).toBe(404);
    expect(await statusOf(stranger.batches.delete({ name }))).toBe(404);
    await ai.batches.delete({ name });
    expect(await statusOf(ai.batches.get({ name }))).toBe(404);
  });

  test('without any valid request fails, with the reason for each', async () => {
    const made = await ai.batches.create({ model: 'nobody/knows', src: [request('a')] });
    const batch = await ended(made);
    expect(batch).toMatchObject({
      state: 'JOB_STATE_FAILED',
      dest: { inlinedResponses: [{ metadata: { key: 'a' }, error: { code: expect.any(Number) } }] },
    });
    const { json } = await ask(made.name ?? '');
    expect(json).toMatchObject({ error: { message: expect.stringContaining('nobody/knows') } });
    expect(json).not.toHaveProperty('response');
  });

  test('is refused with the name of the member', async () => {
    const create = (body: unknown): ReturnType<typeof ask> =>
      ask('models/sim/gemini:batchGenerateContent', {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
    const requests = (list: unknown): object => ({
      batch: { inputConfig: { requests: { requests: list } } },
    });
    const wrong: [body: unknown, status: number, word: string][] = [
      [{}, 400, 'batch'],
      [{ batch: {} }, 400, 'batch.inputConfig'],
      [requests([]), 400, 'batch.inputConfig.requests.requests'],
      [requests({}), 400, 'batch.inputConfig'],
      [{ batch: { inputConfig: { fileName: 'files/none' } } }, 404, 'none'],
      [
        { batch: { ...(requests([{}]) as { batch: object }).batch, webhookConfig: {} } },
        400,
        'webhookConfig',
      ],
      [{ batch: { ...(requests([{}]) as { batch: object }).batch, priority: 3 } }, 400, 'batch.priority'],
      [requests(Array.from({ length: 51 }, () => ({}))), 413, 'max_requests'],
      ['{"batch":{"inputConfig":{"requests":{"requests":[{}]', 400, 'ends unexpectedly'],
      ['{"batch":{"inputConfig":{"requests":{"requests":[{}],"requests":[{}]}}}}', 400, 'duplicate'],
      ['{"batch":x}', 400, 'JSON'],
      ['[]', 400, 'object'],
    ];
    for (const [body, status, word] of wrong) {
      const answer = await create(body);
      // Google has no other status for what is too large.
      expect([word, answer.status]).toEqual([word, status]);
      expect(answer.json).toMatchObject({ error: { message: expect.stringContaining(word) } });
    }
    const unserved = await ask('models/sim/gemini:doSomething', { method: 'POST', body: '{}' });
    expect(unserved.status).toBe(404);
    expect(unserved.json).toMatchObject({ error: { message: expect.stringContaining('generateContent') } });
  });
});

test.each([
  ['a key where Google has it', { 'x-goog-api-key': TEST_KEY }, 'operations'],
  [
    'a library of Google with a token',
    { authorization: `Bearer ${TEST_KEY}`, 'x-goog-api-client': 'google-genai-sdk/1' },
    'operations',
  ],
  ['a key where OpenAI has it', { authorization: `Bearer ${TEST_KEY}` }, 'object'],
  ['both keys', { authorization: `Bearer ${TEST_KEY}`, 'x-goog-api-key': TEST_KEY }, 'object'],
])(
  'at the path that OpenAI also has, %s decides which kind of batches is listed',
  async (_, headers, member) => {
    const response = await fetch(`${stateful.gateway.origin}/v1/batches`, { headers });
    expect(response.status).toBe(200);
    expect(await response.json()).toHaveProperty(member);
  },
);
