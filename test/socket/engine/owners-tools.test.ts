// Tools that OpenAI runs itself: a client of Responses has them at whoever owns or runs them, with their items whole in
// both lanes, and is told where nobody does.
import { afterAll, describe, expect, test } from 'bun:test';
import { chatBody, responsesBody, responsesStream, stream, whole } from '../../support/upstreams/answers.ts';
import { framesOf } from '../../support/recordings/loose.ts';
import { startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';

const scene = await startScene(['up'], { config: { vendor_objects: ['*'] } });
const models = [
  {
    id: 'plain/responses',
    endpoints: [{ provider: 'up', model: 'm', protocol: 'openai-responses', reasoning: 'none' }],
  },
];
const faithful = await startScene(['up'], { faithful: true, config: { models, vendor_objects: ['*'] } });
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await faithful[Symbol.asyncDispose]();
});

const TOOLS = [
  { type: 'image_generation', size: '1024x1024' },
  { type: 'file_search', vector_store_ids: ['vs_1'], max_num_results: 3 },
  { type: 'code_interpreter', container: { type: 'auto' } },
  { type: 'computer_use_preview', display_width: 1024, display_height: 768, environment: 'browser' },
  { type: 'local_shell' },
  { type: 'shell' },
  { type: 'apply_patch' },
];
const ITEMS = [
  {
    id: 'ig_0123456789abcdef',
    type: 'image_generation_call',
    status: 'completed',
    result: 'AAAA',
    size: '1024x1024',
  },
  {
    id: 'fs_0123456789abcdef',
    type: 'file_search_call',
    status: 'completed',
    queries: ['rivers'],
    results: [{ file_id: 'file-1', filename: 'a.txt', score: 0.5, text: 'Ounas' }],
  },
  {
    id: 'ci_0123456789abcdef',
    type: 'code_interpreter_call',
    status: 'completed',
    code: 'print(2)',
    container_id: 'c1',
    outputs: [{ type: 'logs', logs: '2' }],
  },
];
const INCLUDE = ['file_search_call.results', 'code_interpreter_call.outputs', 'reasoning.encrypted_content'];

async function ask(
  on: Scene,
  body: object,
  model = on === faithful ? 'plain/responses' : 'one/responses',
): Promise<Response> {
  return on.gateway.post('/responses', { model, input: 'Hi', include: INCLUDE, ...body });
}

describe('at the owner', () => {
  test('they pass, and their items are returned completely, relayed', async () => {
    const up = faithful.upstream('up');
    up.script(whole(responsesBody(ITEMS)), stream(responsesStream(ITEMS)));
    const response = await ask(faithful, { tools: TOOLS, store: false });
    expect([response.status, response.headers.get('x-dragoman-report')]).toEqual([200, null]);
    expect(response.headers.get('x-dragoman-lane')).toBe('relay');
    expect(at(up.requests.at(-1)?.json as Json, 'tools')).toEqual(TOOLS);
    expect(list(await response.json(), 'output')).toEqual(ITEMS);
    const streamed = await ask(faithful, { tools: TOOLS, store: false, stream: true });
    const last = JSON.parse(framesOf(await streamed.text()).at(-1)?.data ?? '{}') as Json;
    expect(list(last, 'response', 'output')).toEqual(ITEMS);
  });

  test('they pass, and their items are returned completely, translated, and in the next turn', async () => {
    const up = faithful.upstream('up');
    up.script(whole(responsesBody(ITEMS)), whole(responsesBody(ITEMS)), stream(responsesStream(ITEMS)));
    const first = (await (await ask(faithful, { tools: TOOLS })).json()) as Json;
    const next = {
      tools: TOOLS,
      previous_response_id: String(at(first, 'id')),
      tool_choice: { type: 'file_search' },
    };
    const second = await ask(faithful, next);
    expect([second.status, second.headers.get('x-dragoman-lane')]).toEqual([200, 'translate']);
    const sent = up.requests.at(-1)?.json as Json;
    expect(at(sent, 'tools')).toEqual(TOOLS);
    expect(at(sent, 'tool_choice')).toEqual({ type: 'file_search' });
    expect(list(sent, 'input').slice(1, 4)).toEqual(ITEMS);
    expect(list(await second.json(), 'output')).toEqual(ITEMS);
    const streamed = await ask(faithful, { ...next, stream: true });
    const last = JSON.parse(framesOf(await streamed.text()).at(-1)?.data ?? '{}') as Json;
    expect(list(last, 'response', 'output')).toEqual(ITEMS);
  });
});

describe('tools of one vendor at another', () => {
  test.each(['chat', 'responses'])(
    'they are reported, and the request works without them: %s',
    async (protocol) => {
      const own = TOOLS.slice(0, 3);
      for (const choice of ['auto', 'required']) {
        scene.upstream('up').script(whole(protocol === 'chat' ? chatBody('Hi') : responsesBody([])));
        const response = await ask(scene, { tools: own, tool_choice: choice }, `one/${protocol}`);
        expect(response.status).toBe(200);
        const report = response.headers.get('x-dragoman-report') ?? '';
        for (const index of [0, 1, 2]) expect(report).toContain(`tools[${index}]:dropped`);
        expect(report.includes('tool_choice:dropped')).toBe(choice === 'required');
        expect(at(scene.upstream('up').requests.at(-1)?.json as Json, 'tools')).toBeUndefined();
      }
    },
  );

  test('a tool that is required is refused', async () => {
    scene.upstream('up').script(whole(chatBody('Hi')));
    const response = await ask(
      scene,
      { tools: TOOLS.slice(0, 3), tool_choice: { type: 'file_search' } },
      'one/chat',
    );
    expect(response.status).toBe(400);
    expect(at(await response.json(), 'error', 'param')).toBe('tool_choice');
  });
});
