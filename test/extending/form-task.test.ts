// A task whose request is a form and whose answer may be text or a stream is one folder and one line, as any other: a copy of the
// sources gets one, and everything that holds for requests holds for it, over sockets.
import { expect, test } from 'bun:test';
import { KEYS, startWithTask } from './extended-gateway.ts';

const WORDS = 'the moon is up';
/** A file of every byte, with what looks like a boundary. */
const BYTES = Buffer.concat([
  Buffer.from('\r\n--form-\r\n'),
  Buffer.from(Array.from({ length: 256 }, (_, at) => at)),
]);

/** Bodies that the other upstream was sent. */
const sent: Buffer[] = [];

/** Fails, breaks off or answers, as the model's name says. */
async function otherUpstream(request: Request): Promise<Response> {
  const bytes = Buffer.from(await request.arrayBuffer());
  sent.push(bytes);
  const form = await new Response(bytes, { headers: request.headers }).formData();
  const type = 'text/event-stream';
  switch (form.get('model')) {
    case 'cut':
      return new Response('data: {"delta":"the "}\n\n', { headers: { 'content-type': type } });
    case 'silent':
      return new Response('', { headers: { 'content-type': type } });
    case 'page':
      return new Response('<p>Welcome</p>', { headers: { 'content-type': 'text/html' } });
    case 'whole':
      return Response.json({ text: WORDS, tokens: 7 });
    default:
      return Response.json({ error: { message: 'broken' } }, { status: 500 });
  }
}

const gateway = await startWithTask(
  'toy-form-task.ts',
  'captions',
  'other',
  otherUpstream,
  {
    'house/caption': [
      ['other', 'broken'],
      ['sim', 'caption'],
    ],
    'house/silent': [
      ['other', 'silent'],
      ['sim', 'caption'],
    ],
    'house/page': [
      ['other', 'page'],
      ['sim', 'caption'],
    ],
    'house/cut': [
      ['other', 'cut'],
      ['sim', 'caption'],
    ],
    'house/whole': [['other', 'whole']],
  },
  { logging: { content: 'all' } },
);

type Fields = Readonly<Record<string, string>>;

function formOf(model: string, fields: Fields, bytes: string | Buffer | undefined): FormData {
  const form = new FormData();
  form.append('model', model);
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  if (bytes !== undefined)
    form.append('file', new File([Buffer.from(bytes)], 'größe "1".wav', { type: 'audio/wav' }));
  return form;
}

function post(
  model: string,
  fields: Fields = {},
  {
    key = KEYS.test,
    bytes = WORDS,
    headers = {},
  }: { key?: string; bytes?: string | Buffer; headers?: Fields } = {},
): Promise<Response> {
  return fetch(`${gateway.origin}/v1/captions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: formOf(model, fields, bytes),
  });
}

async function recordOf(answer: Response): Promise<unknown> {
  return (await gateway.get(`/v1/generation?id=${answer.headers.get('x-request-id')}`)).json();
}

async function eventsOf(answer: Response): Promise<unknown[]> {
  expect(answer.headers.get('content-type')).toStartWith('text/event-stream');
  const frames = (await answer.text()).split('\n\n').filter((frame) => frame.startsWith('data: '));
  return frames.map((frame) => JSON.parse(frame.slice(6)) as unknown);
}

test('a form fails over, is recorded, and costs the usage of its upstream', async () => {
  const answer = await post('house/caption');
  expect({ status: answer.status, body: await answer.json() }).toEqual({
    status: 200,
    body: { text: WORDS, model: 'house/caption' },
  });
  expect(answer.headers.get('x-dragoman-provider')).toBe('sim');
  expect(await recordOf(answer)).toMatchObject({
    api: 'captions',
    model: 'house/caption',
    status: 200,
    tokens: { input: 1000, output: 0 },
    usage: 0.001,
    attempts: expect.arrayContaining([
      expect.objectContaining({ provider: 'other' }),
      expect.objectContaining({ provider: 'sim' }),
    ]),
  });
});

test('its upstream gets the file byte by byte, under its name and type', async () => {
  await post('house/caption', {}, { bytes: BYTES });
  const body = sent.at(-1) ?? Buffer.of();
  const head = 'form-data; name="file"; filename="größe %221%22.wav"\r\ncontent-type: audio/wav\r\n\r\n';
  const from = body.indexOf(head) + Buffer.byteLength(head);
  expect(body.subarray(from, from + BYTES.length).equals(BYTES)).toBe(true);
  expect(body.toString('latin1', from + BYTES.length)).toMatch(/^\r\n--form-\w+--\r\n$/);
});

test('its response is JSON, text or a stream, as the client requests', async () => {
  const text = await post('sim/caption', { response_format: 'text' });
  expect(text.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await text.text()).toBe(WORDS);
  const streamed = await post('sim/caption', { stream: 'true' });
  expect(await eventsOf(streamed)).toEqual([
    { delta: 'the ' },
    { delta: 'moon ' },
    { delta: 'is ' },
    { delta: 'up' },
    { delta: '' },
    { done: true, text: WORDS, model: 'sim/caption' },
  ]);
  expect(await recordOf(streamed)).toMatchObject({ streamed: true, tokens: { input: 1000 } });
});

test('a server that does not stream is streamed in one piece', async () => {
  expect(await eventsOf(await post('house/whole', { stream: 'true' }))).toEqual([
    { delta: WORDS },
    { done: true, text: WORDS, model: 'house/whole' },
  ]);
});

test.each(['house/silent', 'house/page'])(
  'if nothing of %s was sent, another endpoint serves its stream',
  async (id) => {
    const answer = await post(id, { stream: 'true' });
    expect((await eventsOf(answer)).at(-1)).toEqual({ done: true, text: WORDS, model: id });
    expect(answer.headers.get('x-dragoman-attempts')).not.toBe('1');
  },
);

test('an interrupted stream ends with an error, and is charged for the received part', async () => {
  const answer = await post('house/cut', { stream: 'true' });
  expect(await eventsOf(answer)).toEqual([
    { delta: 'the ' },
    { error: { kind: 'upstream_unavailable', message: 'the upstream broke its answer off' } },
  ]);
  expect(await recordOf(answer)).toMatchObject({
    attempts: [{ provider: 'other', status: 200 }],
    tokens: { input: 4, output: 1 },
  });
});

test('it is counted by limits and budgets', async () => {
  expect((await post('house/whole', {}, { key: KEYS.limited })).status).toBe(200);
  expect((await post('house/whole', {}, { key: KEYS.limited })).status).toBe(429);
  expect((await post('house/whole', {}, { key: KEYS.poor, bytes: 'x'.repeat(10_000) })).status).toBe(402);
});

test.each([{}, { stream: 'true' }])('it is served once under an idempotency key: %j', async (fields) => {
  const headers = { 'idempotency-key': `captions-${JSON.stringify(fields).length}` };
  const first = await post('sim/caption', fields, { headers: { ...headers } });
  const second = await post('sim/caption', fields, { headers: { ...headers } });
  expect(second.headers.get('x-request-id')).toBe(first.headers.get('x-request-id'));
  expect(await second.text()).toBe(await first.text());
});

test('it has a metric, a description and an explanation', async () => {
  const metrics = await (await gateway.get('/metrics', KEYS.admin)).text();
  expect(metrics).toMatch(
    /^gen_ai_server_request_duration_seconds_count\{[^}]*gen_ai_operation_name="captions"/m,
  );
  const { paths } = (await (await gateway.get('/openapi.json')).json()) as {
    paths: Record<string, { post: { requestBody: { content: object } } }>;
  };
  expect(Object.keys(paths['/v1/captions']?.post.requestBody.content ?? {})).toEqual(['multipart/form-data']);
  const explained = await fetch(`${gateway.origin}/v1/route/explain?protocol=captions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEYS.test}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'house/whole' }),
  });
  expect(await explained.json()).toMatchObject({ candidates: [{ endpoint: 'other' }] });
});

test('it cannot be replayed, because its files are not stored', async () => {
  const first = await post('sim/caption');
  const path = `/v1/management/generations/${first.headers.get('x-request-id')}/replay`;
  const again = await fetch(gateway.origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEYS.admin}`, 'content-type': 'application/json' },
    body: '{}',
  });
  expect(again.status).toBe(409);
  expect(await again.json()).toMatchObject({
    error: {
      code: 'not_replayable',
      message: 'This request cannot be replayed: its files are not stored.',
    },
  });
});

test('a missing field or a body that is no form is refused with its name', async () => {
  const refusal = async (answer: Response): Promise<unknown> => ({
    status: answer.status,
    ...(((await answer.json()) as { error: object }).error as { message: string; param: string }),
  });
  const ask = (body: BodyInit, type?: string): Promise<Response> =>
    fetch(`${gateway.origin}/v1/captions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEYS.test}`, ...(type && { 'content-type': type }) },
      body,
    });
  expect(await refusal(await ask(formOf('sim/caption', {}, undefined)))).toMatchObject({
    status: 400,
    param: 'file',
  });
  expect(await refusal(await post('sim/caption', { response_format: 'srt' }))).toMatchObject({
    status: 400,
    param: 'response_format',
  });
  expect(await refusal(await ask('{}', 'application/json'))).toMatchObject({
    status: 400,
    message: expect.stringContaining('multipart/form-data'),
  });
  const torn = Buffer.from(
    '--B\r\ncontent-disposition: form-data; name="model"\r\n\r\n\xff\r\n--B--\r\n',
    'latin1',
  );
  expect(await refusal(await ask(torn, 'multipart/form-data; boundary=B'))).toMatchObject({
    status: 400,
    param: 'model',
  });
});
