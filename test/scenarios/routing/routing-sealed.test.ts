// Encrypted reasoning over two accounts of a vendor: each can read only its own. A conversation returns to the account
// that encrypted it, and continues without that reasoning where it must.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { responsesBody, responsesStream, stream as sse, whole } from '../../support/upstreams/answers.ts';
import { startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';

const ACCOUNTS = ['east', 'west'] as const;
type Account = (typeof ACCOUNTS)[number];
const MODES = [
  { lane: 'relay', stream: false },
  { lane: 'relay', stream: true },
  { lane: 'translate', stream: false },
  { lane: 'translate', stream: true },
] as const;

let scene: Scene;
/** Account and the encrypted reasoning that it received, in the order of calls. */
let asked: string[];
afterEach(() => scene[Symbol.asyncDispose]());
beforeEach(() => start(false));

async function start(faithful: boolean): Promise<void> {
  asked = [];
  scene = await startScene(ACCOUNTS, {
    faithful,
    config: {
      routing: { retries: 0 },
      models: [
        {
          id: 'all/thinker',
          reasoning: 'effort',
          endpoints: ACCOUNTS.map((provider) => ({ provider, model: 'm', protocol: 'openai-responses' })),
        },
      ],
    },
  });
  for (const name of ACCOUNTS) scene.upstream(name).always(account(name));
}

/** Answers with reasoning that this account encrypted, and refuses that of another one as OpenAI does. */
function account(name: Account): Answer {
  let turns = 0;
  return (exchange) => {
    const { json } = exchange.request;
    const given = at(json, 'input');
    const sealed = (Array.isArray(given) ? given : []).flatMap((item) => at(item, 'encrypted_content') ?? []);
    asked.push([name, ...sealed].join(' '));
    const foreign = sealed.some((data) => !String(data).startsWith(name));
    if (foreign)
      return whole(
        {
          error: {
            message: 'The encrypted content gAAA... could not be verified.',
            type: 'invalid_request_error',
            param: null,
            code: 'invalid_encrypted_content',
          },
        },
        400,
      )(exchange);
    turns += 1;
    const output = [
      { type: 'reasoning', id: `rs_${turns}`, summary: [], encrypted_content: `${name}-${turns}` },
      {
        type: 'message',
        id: `msg_${turns}`,
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: `of ${name}`, annotations: [] }],
      },
    ];
    return (at(json, 'stream') === true ? sse(responsesStream(output)) : whole(responsesBody(output)))(
      exchange,
    );
  };
}

const down: Answer = whole({ error: { message: 'down', type: 'server_error' } }, 503);

interface Turn {
  readonly status: number;
  readonly output: readonly unknown[];
  readonly report: string | null;
}

async function turn(input: readonly unknown[], stream: boolean, extra: object = {}): Promise<Turn> {
  asked.length = 0;
  const body = {
    model: 'all/thinker',
    input,
    stream,
    store: false,
    include: ['reasoning.encrypted_content'],
    ...extra,
  };
  const response = await scene.gateway.post('/responses', body);
  const text = await response.text();
  const last = stream && response.status === 200 ? text.trimEnd().split('\ndata: ').at(-1) : text;
  const json: unknown = JSON.parse(last ?? '');
  const answer = stream && response.status === 200 ? at(json, 'response') : json;
  return {
    status: response.status,
    output: response.status === 200 ? list(answer, 'output') : [],
    report: response.headers.get('x-dragoman-report'),
  };
}

const question = (content: string): object => ({ role: 'user', content });

/** A conversation whose first turn the second account answered, because the first was down. */
async function begun(stream: boolean): Promise<readonly unknown[]> {
  scene.upstream('east').always(down);
  const { output } = await turn([question('Where to?')], stream);
  scene.upstream('east').always(account('east'));
  return [question('Where to?'), ...output, question('And then?')];
}

test.each(MODES)(
  'a conversation with encrypted reasoning returns to its account ($lane, streamed: $stream)',
  async ({ lane, stream }) => {
    if (lane === 'relay') {
      await scene[Symbol.asyncDispose]();
      await start(true);
    }
    const conversation = await begun(stream);
    expect(await turn(conversation, stream)).toMatchObject({ status: 200, report: null });
    expect(asked).toEqual(['west west-1']);
    for (const _ of ACCOUNTS) {
      const inRotation = { provider: { routing: { type: 'round_robin' } } };
      expect((await turn(conversation, stream, inRotation)).status).toBe(200);
      expect(asked).toEqual(['west west-1']);
    }
  },
);

test.each([true, false])('a compacted conversation returns to its account (streamed: %p)', async (stream) => {
  await scene[Symbol.asyncDispose]();
  await start(true);
  const compacted = [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'west-compaction' }];
  scene.upstream('east').always(down);
  scene.upstream('west').always(stream ? sse(responsesStream(compacted)) : whole(responsesBody(compacted)));
  const { output } = await turn([question('Where to?')], stream);
  for (const name of ACCOUNTS) scene.upstream(name).always(account(name));
  expect((await turn([...output, question('And then?')], stream)).status).toBe(200);
  expect(asked).toEqual(['west west-compaction']);
});

test('the route explanation names the account that encrypted the reasoning', async () => {
  const input = await begun(false);
  const response = await scene.gateway.post('/route/explain', { model: 'all/thinker', input });
  expect(at(await response.json(), 'candidates', 0)).toMatchObject({
    endpoint: 'west',
    reason: 'produced the encrypted reasoning of this conversation',
    holds_cache: false,
  });
});

test.each([true, false])(
  'a conversation whose account is down continues without its reasoning, which is reported (streamed: %p)',
  async (stream) => {
    const conversation = await begun(stream);
    scene.upstream('west').always(down);
    const moved = await turn(conversation, stream);
    expect(moved).toMatchObject({ status: 200, report: 'input[1]:dropped' });
    expect(asked).toEqual(['east west-1', 'east']);
    // Only what the other account encrypted is omitted.
    scene.upstream('west').always(account('west'));
    const later = [...conversation, ...moved.output, question('And now?')];
    expect(await turn(later, stream)).toMatchObject({ status: 200, report: 'input[1]:dropped' });
    expect(asked).toEqual(['east west-1 east-1', 'east east-1']);
  },
);

test('a request that sets the order is sent there, without reasoning of another account', async () => {
  const conversation = await begun(false);
  const ordered = await turn(conversation, false, { provider: { order: ['east'] } });
  expect(ordered).toMatchObject({ status: 200, report: 'input[1]:dropped' });
  expect(asked).toEqual(['east west-1', 'east']);
});

test('a refusal that remains without the reasoning reaches the client', async () => {
  const conversation = await begun(false);
  let calls = 0;
  scene.upstream('west').always((exchange) => {
    calls += 1;
    whole({ error: { message: 'no', code: 'invalid_encrypted_content' } }, 400)(exchange);
  });
  expect((await turn(conversation, false)).status).toBe(400);
  expect(calls).toBe(2);
});
