// Which stop sequence ended an answer, as clients of Messages hear of it where a server of Chat Completions tells: vLLM does,
// in `stop_reason` beside the finish reason.
import { afterAll, expect, test } from 'bun:test';
import { stream, whole } from '../../../support/upstreams/answers.ts';
import { startScene } from '../../../support/upstreams/gateway-with-upstreams.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());

const ASK = {
  model: 'one/chat',
  max_tokens: 100,
  stop_sequences: ['END'],
  messages: [{ role: 'user', content: 'Hello' }],
};
const HEAD = { id: 'c1', created: 1_700_000_000, model: 'm' };

test.each([
  ['a sequence', 'END', 'stop_sequence', 'END'],
  ['a token', 128_001, 'end_turn', null],
  ['nothing', null, 'end_turn', null],
  ['the reason once more', 'stop', 'end_turn', null],
])('%s', async (_, stop_reason, reason, sequence) => {
  const end = { index: 0, finish_reason: 'stop', stop_reason };
  const choice = { ...end, message: { role: 'assistant', content: 'Sunny, ' } };
  const chunk = { ...end, delta: { role: 'assistant', content: 'Sunny, ' } };
  scene
    .upstream('up')
    .script(
      whole({ ...HEAD, object: 'chat.completion', choices: [choice] }),
      stream(
        `data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', choices: [chunk] })}\n\ndata: [DONE]\n\n`,
      ),
    );
  const answer = await (await scene.gateway.post('/messages', ASK)).json();
  expect(answer).toMatchObject({ stop_reason: reason, stop_sequence: sequence });
  const streamed = await (await scene.gateway.post('/messages', { ...ASK, stream: true })).text();
  expect(streamed).toContain(`"stop_reason":"${reason}","stop_sequence":${JSON.stringify(sequence)}`);
});
