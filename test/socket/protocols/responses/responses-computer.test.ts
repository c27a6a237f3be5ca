// The computer tools of the Responses API on a model of another protocol: all actions of a call reach the client, and
// the model again.
import { afterAll, expect, test } from 'bun:test';
import { chatBody, whole } from '../../../support/upstreams/answers.ts';
import { startScene } from '../../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../../support/upstreams/json-path.ts';
import { PNG_URL } from '../../../support/images.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());

const ACTIONS = [
  { type: 'click', x: 1, y: 2, button: 'left' },
  { type: 'type', text: 'Hi' },
];
const CHECK = { id: 'sc_1', code: 'malicious_instructions', message: 'Careful' };
const SCREEN = { type: 'computer_screenshot', image_url: PNG_URL };

/** Answers with a call of the function `computer`, or with text. */
function script(args?: object): void {
  const called = { name: 'computer', arguments: JSON.stringify(args) };
  const calls = [{ id: 'call_1', type: 'function', function: called }];
  scene
    .upstream('up')
    .script(whole(args ? chatBody({ tool_calls: calls }, 'tool_calls') : chatBody('Done.')));
}

async function ask(body: object): Promise<{ readonly json: Json; readonly report: string }> {
  const response = await scene.gateway.post('/responses', { model: 'one/chat', ...body });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  return { json: JSON.parse(text) as Json, report: response.headers.get('x-dragoman-report') ?? '' };
}

/** Arguments of the calls in the conversation that the upstream received. */
function sentCalls(): readonly unknown[] {
  return list(scene.upstream('up').requests[0]?.json, 'messages')
    .flatMap((message) => list(message, 'tool_calls'))
    .map((call) => JSON.parse(String(at(call, 'function', 'arguments'))) as unknown);
}

test('a model calls `computer` with several actions, and reads them all in the next turn', async () => {
  const tools = [{ type: 'computer' }];
  script({ actions: ACTIONS });
  const { json } = await ask({ input: 'Go', tools, tool_choice: { type: 'computer' } });
  expect(at(scene.upstream('up').requests[0]?.json, 'tool_choice', 'function', 'name')).toBe('computer');
  const [call] = list(json, 'output');
  expect(call).toMatchObject({
    type: 'computer_call',
    call_id: 'call_1',
    actions: ACTIONS,
    pending_safety_checks: [],
  });

  script();
  await ask({
    previous_response_id: at(json, 'id'),
    input: [{ type: 'computer_call_output', call_id: 'call_1', output: SCREEN }],
    tools,
  });
  expect(sentCalls()).toEqual([{ actions: ACTIONS }]);
});

test('a call without a known action stays a function call', async () => {
  script({ actions: [{ type: 'explode' }] });
  const { json } = await ask({ input: 'Go', tools: [{ type: 'computer' }] });
  expect(at(json, 'output', 0, 'type')).toBe('function_call');
});

test.each(['computer', 'computer_use_preview'])(
  'safety checks of %s, which a function cannot have, are reported',
  async (type) => {
    const display = { display_width: 800, display_height: 600, environment: 'browser' };
    const call = type === 'computer' ? { actions: ACTIONS } : { action: ACTIONS[0] };
    script();
    const { report } = await ask({
      tools: [type === 'computer' ? { type } : { type, ...display }],
      input: [
        { role: 'user', content: 'Go' },
        { type: 'computer_call', call_id: 'call_1', ...call, pending_safety_checks: [CHECK] },
        {
          type: 'computer_call_output',
          call_id: 'call_1',
          output: SCREEN,
          acknowledged_safety_checks: [CHECK],
        },
      ],
    });
    expect(report).toContain('input[1].pending_safety_checks:dropped');
    expect(report).toContain('input[2].acknowledged_safety_checks:dropped');
    expect(sentCalls()).toEqual([type === 'computer' ? { actions: ACTIONS } : ACTIONS[0]]);
  },
);
