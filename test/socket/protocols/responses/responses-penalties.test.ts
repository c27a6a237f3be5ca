// Penalties in Responses: a wish of Open Responses that some upstreams know, and two members of every answer.
import { afterAll, expect, test } from 'bun:test';
import { startScene } from '../../../support/upstreams/gateway-with-upstreams.ts';
import { chatBody, responsesBody, whole } from '../../../support/upstreams/answers.ts';
import { at } from '../../../support/upstreams/json-path.ts';
import { framesOf } from '../../../support/recordings/loose.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());

const PENALTIES = { presence_penalty: 0.5, frequency_penalty: -0.25 };
const NONE = { presence_penalty: 0, frequency_penalty: 0 };

test.each([
  [{}, NONE],
  [PENALTIES, PENALTIES],
])('are echoed, with 0 by default: %p', async (given, said) => {
  const body = { model: 'sim/chat', input: 'Hello', ...given };
  expect(await (await scene.gateway.post('/responses', body)).json()).toMatchObject(said);
  const stream = await scene.gateway.post('/responses', { ...body, stream: true });
  const answers = framesOf(await stream.text())
    .map(({ data }) => at(JSON.parse(data), 'response'))
    .filter((response) => response !== undefined);
  expect(answers).toHaveLength(3);
  for (const response of answers) expect(response).toMatchObject(said);
});

test.each([
  ['one/chat', chatBody({ content: 'Hi' })],
  ['one/responses', responsesBody([])],
])('reach an upstream that supports them: %s', async (model, answer) => {
  scene.upstream('up').script(whole(answer));
  const response = await scene.gateway.post('/responses', { model, input: 'Hello', ...PENALTIES });
  expect(scene.upstream('up').requests.at(-1)?.json).toMatchObject(PENALTIES);
  expect(response.headers.get('x-dragoman-report') ?? '').not.toContain('penalty');
});

test('of a client of Chat Completions are no members of OpenAI’s Responses', async () => {
  scene.upstream('up').script(whole(responsesBody([])));
  const messages = [{ role: 'user', content: 'Hello' }];
  const response = await scene.gateway.post('/chat/completions', {
    model: 'one/responses',
    messages,
    ...PENALTIES,
  });
  expect(scene.upstream('up').requests.at(-1)?.json).not.toHaveProperty('presence_penalty');
  expect(response.headers.get('x-dragoman-report')).toContain('presence_penalty:dropped');
});
