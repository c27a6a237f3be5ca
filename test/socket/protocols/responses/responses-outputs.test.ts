// Outputs in Responses whose call is nowhere: refused as at OpenAI, wherever the conversation is kept.
import { afterAll, describe, expect, test } from 'bun:test';
import { ask, startResponses } from '../../../support/responses-scene.ts';
import { idOf, SocketClient } from '../../../support/socket-client.ts';
import { chatBody, chatStream, responsesBody, stream, whole } from '../../../support/upstreams/answers.ts';
import { at } from '../../../support/upstreams/json-path.ts';

const scene = await startResponses();
afterAll(() => scene[Symbol.asyncDispose]());

const call = { type: 'function_call', call_id: 'call_1', name: 'fog', arguments: '{}' };
const output = { type: 'function_call_output', call_id: 'call_1', output: 'Thick.' };

describe('an output without its call', () => {
  test.each([
    ['function call', output],
    ['custom tool call', { ...output, type: 'custom_tool_call_output' }],
    ['computer call', { ...output, type: 'computer_call_output', output: { type: 'computer_screenshot' } }],
    ['shell call', { ...output, type: 'shell_call_output', output: [] }],
  ])('is refused: %s', async (what, orphan) => {
    for (const way of ['chat', 'messages'] as const) {
      const before = scene.upstream.requests.length;
      const refused = await ask(scene, way, { input: [{ role: 'user', content: 'Hi' }, orphan] }, false);
      expect(refused.status).toBe(400);
      expect(at(refused.body, 'error')).toMatchObject({
        type: 'invalid_request_error',
        param: 'input',
        message: `No tool call found for ${what} output with call_id call_1.`,
      });
      expect(scene.upstream.requests).toHaveLength(before);
    }
  });

  test('is left to the upstream if the body is relayed', async () => {
    scene.upstream.script(whole(responsesBody([])));
    const answer = await ask(scene, 'relay', { input: [{ role: 'user', content: 'Hi' }, output] }, false);
    expect(answer.status).toBe(200);
  });

  test('removes the previous response from the connection', async () => {
    scene.upstream.script(stream(chatStream('Noted.')));
    await using client = await SocketClient.open(scene.gateway.origin);
    const body = { model: 'to/chat', store: false };
    const first = await client.turn({ ...body, input: 'I am Ada.' });
    const next = { ...body, previous_response_id: idOf(first) };
    const [refused] = await client.turn({ ...next, input: [output] });
    expect(refused).toMatchObject({ type: 'error', status: 400, error: { param: 'input' } });
    const [lost] = await client.turn({ ...next, input: 'And?' });
    expect(lost).toMatchObject({ error: { code: 'previous_response_not_found' } });
  });
});

test('the call may be in the input, in an earlier response, or in a conversation', async () => {
  const said = chatBody({
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'fog', arguments: '{}' } }],
  });
  const done = whole(chatBody({ content: 'Thick.' }));
  scene.upstream.script(done);
  const inInput = await ask(scene, 'chat', { input: [call, output] }, false);
  scene.upstream.script(whole(said));
  const first = await ask(scene, 'chat', { input: 'Fog?' }, false);
  scene.upstream.script(done);
  const chained = await ask(scene, 'chat', { input: [output], previous_response_id: first.id }, false);
  const made = (await (await scene.gateway.post('/conversations', { items: [call] })).json()) as {
    id: string;
  };
  scene.upstream.script(done);
  const kept = await ask(scene, 'chat', { input: [output], conversation: made.id }, false);
  expect([inInput.status, chained.status, kept.status]).toEqual([200, 200, 200]);
});
