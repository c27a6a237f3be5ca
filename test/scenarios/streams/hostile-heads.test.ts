// Names and heads that no HTTP header can carry: a client's model name, an upstream's status and content type.
// Each request gets an answer, and the gateway lives on.
import { afterAll, expect, test } from 'bun:test';
import { chatBody, chatStream, stream as sse, whole } from '../../support/upstreams/answers.ts';
import { startScene, UPSTREAM_KEY } from '../../support/upstreams/gateway-with-upstreams.ts';

const TOO_LONG = {
  error: { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' },
};
const scene = await startScene(['first'], { faithful: true });
afterAll(() => scene[Symbol.asyncDispose]());

const ask = (model: string, stream = false): Promise<Response> =>
  scene.gateway.post('/chat/completions', { model, stream, messages: [{ role: 'user', content: 'Hello' }] });

test.each(['first/模型', 'first/é'])('a model called %j is served', async (model) => {
  scene.upstream('first').script(whole(chatBody('Hello')), sse(chatStream('Hel', 'lo')));
  const complete = await ask(model);
  expect(complete.status).toBe(200);
  expect(((await complete.json()) as { model: string }).model).toBe(model);
  expect(complete.headers.get('x-dragoman-model')).toMatch(/^first\/[\x20-\x7e]+$/);
  const streamed = await ask(model, true);
  expect(streamed.status).toBe(200);
  expect(await streamed.text()).toEndWith('data: [DONE]\n\n');
});

test('a model with a control character in its name is refused', async () => {
  const refused = await ask('first/a\nb');
  expect(refused.status).toBe(400);
  expect(((await refused.json()) as { error: { param: string } }).error.param).toBe('model');
});

test.each(['text/html', 'application/json\tx', 'text/html; charset=utf-7'])(
  'relayed text is sent as JSON, also if the upstream declares it as %p',
  async (type) => {
    scene.upstream('first').script(whole(TOO_LONG, 400, { 'content-type': type }));
    const answer = await ask('first/chat');
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await answer.json()).toEqual(TOO_LONG);
  },
);

test.each(['text/html', 'application/json', undefined])(
  'a page with status 400, sent as %p, becomes an error in the protocol',
  async (type) => {
    const page = '<html><script>alert(1)</script>no such thing</html>';
    const headers = type === undefined ? {} : { 'content-type': type };
    scene.upstream('first').script((exchange) => {
      exchange.head(400, { ...headers, 'content-length': String(page.length) });
      exchange.raw(page);
    });
    const answer = await ask('first/chat');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/json']);
    const { error } = (await answer.json()) as { error: { message: string } };
    expect(error.message).toBe('The upstream returned an HTML page.');
  },
);

test.each([301, 599, 999])("status %d never becomes the client's", async (status) => {
  scene.upstream('first').script(whole(TOO_LONG, status));
  const answer = await ask('first/chat');
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { code: 'context_length_exceeded' } });
});

test('an unknown content coding is a failure of the upstream, with and without a body', async () => {
  for (const body of ['{}', '']) {
    scene.upstream('first').always(whole(body, 200, { 'content-encoding': 'constructor' }));
    const answer = await ask('first/chat');
    expect(answer.status).toBe(502);
    expect(await answer.text()).toContain('unknown content-encoding constructor');
  }
});

test('a refusal that names the key of the gateway reaches no client', async () => {
  const error = { message: 'bad request', type: 'invalid_request_error', sent_with: UPSTREAM_KEY };
  scene.upstream('first').script(whole({ error }, 400));
  const answer = await ask('first/chat');
  expect(answer.status).toBe(400);
  expect(await answer.json()).toEqual({ error: { ...error, sent_with: '[secret]' } });
});

test('an error with an endless body is reported with its beginning', async () => {
  const up = scene.upstream('first');
  up.script((exchange) => {
    exchange.head(400, { 'content-type': 'text/plain' });
    exchange.raw('no '.repeat(100_000));
  });
  const answer = await ask('first/chat');
  expect(answer.status).toBe(400);
  await up.exchanges[0]?.closed;
});
