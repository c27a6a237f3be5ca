// A connection on which no answer is awaited is closed after the idle limit, whatever was answered on it before.
import { afterAll, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { startGateway, TEST_KEY } from '../../support/harness.ts';

const gateway = await startGateway({ server: { idle_ms: 1000 } });
afterAll(() => gateway.close());

/** Sends a request, and stays. @returns what came back before the server closed the connection */
function stay(path: string, body: object, key = TEST_KEY): Promise<string> {
  const json = JSON.stringify(body);
  const { hostname, port } = new URL(gateway.origin);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname);
    socket.on('data', (piece) => (text += piece.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\ncontent-length: ${json.length}\r\n\r\n${json}`,
    );
  });
}

const messages = [{ role: 'user', content: 'hello' }];

test.concurrent.each([
  ['an answer', { model: 'sim/echo', messages }, '"content":"hello"'],
  ['a stream', { model: 'sim/echo', messages, stream: true }, '[DONE]'],
  ['a stream that lasts longer than the limit', { model: 'sim/paced-150', messages, stream: true }, '[DONE]'],
  ['a stream through another protocol', { model: 'sim/messages', messages, stream: true }, '[DONE]'],
  ['a refused request', { model: 'sim/nothing', messages }, 'model_not_found'],
  ['a body that is wrong', { messages: 1 }, '"error"'],
])('an idle connection stays open after %s', async (_, body, end) => {
  expect(await stay('/v1/chat/completions', body)).toContain(end);
});

test.concurrent('an idle connection stays open after a response of another kind', async () => {
  const [message, refusal] = await Promise.all([
    stay('/v1/messages', { model: 'sim/echo', messages, max_tokens: 5 }),
    stay('/v1/chat/completions', {}, 'sk-wrong'),
  ]);
  expect(message).toContain('"type":"message"');
  expect(refusal).toContain('invalid_api_key');
});
