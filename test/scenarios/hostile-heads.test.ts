// Names and heads that no HTTP header can carry: a client's model name, an upstream's status and content type.
// Each request gets an answer, and the gateway lives on.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { chatBody, chatStream, stream as sse, whole } from '../upstreams/answers.ts';
import { startScene, UPSTREAM_KEY, type Scene } from '../upstreams/gateway-with-upstreams.ts';

const TOO_LONG = {
  error: { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' },
};
let scene: Scene;
beforeAll(async () => {
  scene = await startScene(['first'], { faithful: true });
});
afterAll(() => scene[Symbol.asyncDispose]());

const ask = (model: string, stream = false): Promise<Response> =>
  scene.gateway.post('/chat/completions', { model, stream, messages: [{ role: 'user', content: 'Hello' }] });

test.each(['first/模型', 'first/a\nb', 'first/é'])('a model called %j is served', async (model) => {
  scene.upstream('first').script(whole(chatBody('Hello')), sse(chatStream('Hel', 'lo')));
  const complete = await ask(model);
  expect(complete.status).toBe(200);
  expect(((await complete.json()) as { model: string }).model).toBe(model);
  expect(complete.headers.get('x-dragoman-model')).toMatch(/^first\/[\x20-\x7e]+$/);
  const streamed = await ask(model, true);
  expect(streamed.status).toBe(200);
  expect(await streamed.text()).toEndWith('data: [DONE]\n\n');
});

test('a content type that is no header is passed on without its line break', async () => {
  scene.upstream('first').script(whole(TOO_LONG, 400, { 'content-type': 'application/json\nx-evil: 1' }));
  const answer = await ask('first/chat');
  expect(answer.status).toBe(400);
  expect(answer.headers.get('content-type')).toBe('application/json?x-evil: 1');
  expect(answer.headers.get('x-evil')).toBeNull();
  expect(await answer.json()).toEqual(TOO_LONG);
});

test.each([301, 599, 999])("status %d never becomes the client's", async (status) => {
  scene.upstream('first').script(whole(TOO_LONG, status));
  const answer = await ask('first/chat');
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { code: 'context_length_exceeded' } });
});

test('a coding that nobody knows is a failure of the upstream, with and without a body', async () => {
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
