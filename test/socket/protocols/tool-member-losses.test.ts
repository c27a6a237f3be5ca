// Members of tools that another protocol has no place for, such as who may call them: each is in the report of the
// request, and goes up where the upstream knows it.
import { afterAll, expect, test } from 'bun:test';
import { chatBody, messagesBody, responsesBody, whole } from '../../support/upstreams/answers.ts';
import { startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());

const ANSWERS = {
  chat: chatBody('ok'),
  responses: responsesBody([]),
  messages: messagesBody([{ type: 'text', text: 'ok' }], 'end_turn'),
  gemini: { candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }] },
} as const;
const UPSTREAMS = ['chat', 'responses', 'messages', 'gemini'] as const;

const parameters = { type: 'object', properties: {} };
const callers = { allowed_callers: ['programmatic'] };
const TOOLS = [
  { type: 'function', name: 'f', parameters, ...callers },
  { type: 'custom', name: 'c', ...callers },
  { type: 'shell', environment: { type: 'local' }, ...callers },
  {
    type: 'namespace',
    name: 'n',
    description: 'Sums.',
    tools: [{ type: 'function', name: 'g', parameters, ...callers }],
  },
];

async function ask(upstream: keyof typeof ANSWERS, path: string, body: object): Promise<[string[], unknown]> {
  const up = scene.upstream('up');
  up.script(whole(ANSWERS[upstream]));
  const response = await scene.gateway.post(path, { model: `one/${upstream}`, ...body });
  expect(response.status).toBe(200);
  const reported = (response.headers.get('x-dragoman-report') ?? '').split(', ');
  const lost = reported.filter((entry) => entry.endsWith(':dropped')).map((entry) => entry.slice(0, -8));
  return [lost.toSorted(), up.requests.at(-1)?.json];
}

test.each(UPSTREAMS)(
  'lost members of tools of a Responses client are reported at an upstream of %s',
  async (upstream) => {
    const [lost, sent] = await ask(upstream, '/responses', { input: 'hi', tools: TOOLS });
    const ofStandIns = [
      'tools[2].allowed_callers',
      'tools[3].description',
      'tools[3].tools[0].allowed_callers',
    ];
    if (upstream !== 'responses')
      return expect(lost).toEqual(['tools[0].allowed_callers', 'tools[1].allowed_callers', ...ofStandIns]);
    expect(lost).toEqual(ofStandIns);
    expect(list(sent, 'tools').slice(0, 2)).toMatchObject([callers, { type: 'function', ...callers }]);
  },
);

test.each(UPSTREAMS)(
  'lost members of tools of a Messages client are reported at an upstream of %s',
  async (upstream) => {
    const tool = { name: 'f', input_schema: parameters, allowed_callers: ['code_execution_20250825'] };
    const [lost, sent] = await ask(upstream, '/messages', {
      max_tokens: 100,
      messages: [{ role: 'user', content: 'hi' }],
      tools: [tool],
    });
    expect(lost).toEqual(upstream === 'messages' ? [] : ['tools[0].allowed_callers']);
    if (upstream === 'messages') expect(at(sent, 'tools', 0)).toEqual(tool);
  },
);
