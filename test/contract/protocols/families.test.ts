// Hidden state of every family of models that Chat Completions servers serve comes back to them, whichever protocol the
// client speaks, given back by it or not. What the other protocols' own servers sign is in the matrix itself.
import { afterAll, expect, test } from 'bun:test';
import { chatBody, chatChunk, stream as sse, whole } from '../../support/upstreams/answers.ts';
import { CLIENTS } from '../../support/upstreams/client-dialects.ts';
import { UPSTREAM_KEY } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { startUpstream } from '../../support/upstreams/scripted-upstream.ts';
import { startGateway } from '../../support/harness.ts';
import { PROTOCOLS } from './feature.ts';
import { FACES } from './measure.ts';
import { TOOLS } from './samples.ts';

interface Family {
  /** As its servers name it; absent for reasoning that nobody signs. */
  readonly format?: string;
  readonly replay: 'reasoning_details' | 'reasoning_content';
  /** The members of an answer's message that hold its reasoning, as OpenRouter and DeepSeek document them. */
  reasoning(state: string): Readonly<Record<string, Json>>;
}

const THOUGHT = 'Where is Bern?';
const details = (format: string, ...elements: readonly object[]): Readonly<Record<string, Json>> => ({
  reasoning: THOUGHT,
  reasoning_details: elements.map((element, index) => ({ ...element, format, index })) as readonly Json[],
});
const OPENAI = 'openai-responses-v1';
const CLAUDE = 'anthropic-claude-v1';
const GEMINI = 'google-gemini-v1';

const FAMILIES: Readonly<Record<string, Family>> = {
  openai: {
    format: OPENAI,
    replay: 'reasoning_details',
    reasoning: (state) =>
      details(
        OPENAI,
        { type: 'reasoning.summary', summary: THOUGHT, id: 'rs_1' },
        { type: 'reasoning.encrypted', data: state, id: 'rs_1' },
      ),
  },
  'openai, all hidden': {
    format: OPENAI,
    replay: 'reasoning_details',
    reasoning: (state) => ({
      ...details(OPENAI, { type: 'reasoning.encrypted', data: state, id: 'rs_1' }),
      reasoning: null,
    }),
  },
  claude: {
    format: CLAUDE,
    replay: 'reasoning_details',
    reasoning: (state) => details(CLAUDE, { type: 'reasoning.text', text: THOUGHT, signature: state }),
  },
  gemini: {
    format: GEMINI,
    replay: 'reasoning_details',
    reasoning: (state) =>
      details(
        GEMINI,
        { type: 'reasoning.text', text: THOUGHT },
        { type: 'reasoning.encrypted', data: state, id: 'rs_1' },
      ),
  },
  deepseek: { replay: 'reasoning_content', reasoning: (state) => ({ reasoning_content: state }) },
};
const providerOf = (family: string): string => family.replaceAll(/\W+/g, '-');
const modelOf = (family: string): string => `families/${providerOf(family)}`;

const upstream = await startUpstream();
const names = Object.entries(FAMILIES);
const gateway = await startGateway({
  routing: { retries: 0 },
  providers: Object.fromEntries(
    names.map(([family, { format, replay }]) => [
      providerOf(family),
      {
        api_key: UPSTREAM_KEY,
        protocols: {
          'openai-chat': {
            base_url: `${upstream.origin}/v1`,
            reasoning_format: format,
            quirks: { reasoning_replay: replay },
          },
        },
      },
    ]),
  ),
  models: names.map(([family]) => ({
    id: modelOf(family),
    endpoints: [{ provider: providerOf(family), model: 'm', protocol: 'openai-chat', reasoning: 'effort' }],
  })),
});
afterAll(async () => {
  await gateway.close();
  await upstream.stop();
});

/** State that vouches for reasoning, or is its only form: it must come back byte for byte. */
function statesIn(message: unknown): (Json | undefined)[] {
  const own = list(message, 'reasoning_details').map(
    (detail) => at(detail, 'signature') ?? at(detail, 'data'),
  );
  return [...own, at(message, 'reasoning_content')].filter((state) => state !== undefined && state !== null);
}

const cases = Object.keys(FAMILIES).flatMap((family) =>
  PROTOCOLS.flatMap((client) =>
    [false, true].flatMap((stream) =>
      [false, true].map((forgets) => [family, client, stream, forgets] as const),
    ),
  ),
);

test.each(cases)(
  '%s: reasoning state survives a tool turn for a client of %s, streamed: %p, forgotten: %p',
  async (family, client, stream, forgets) => {
    const its = FAMILIES[family];
    if (!its) throw new Error('no family');
    const id = `call_${cases.findIndex((each) => each.join() === [family, client, stream, forgets].join())}`;
    const state = Buffer.from(`state of ${id} +/`).toString('base64');
    const { reasoning_content, reasoning_details, reasoning } = its.reasoning(state);
    const members = { reasoning_content, reasoning_details, reasoning };
    const call = { id, type: 'function', function: { name: 'get_weather', arguments: '{"city":"Bern"}' } };
    const streamed =
      chatChunk({ role: 'assistant', ...members }) +
      chatChunk({ tool_calls: [{ index: 0, ...call }] }) +
      chatChunk({}, 'tool_calls');
    upstream.script(
      stream
        ? sse(`${streamed}data: [DONE]\n\n`)
        : whole(chatBody({ content: null, ...members, tool_calls: [call] }, 'tool_calls')),
      whole(chatBody({ content: 'Done.' }, 'stop')),
    );
    const face = FACES[client];
    const model = modelOf(family);
    const question = { ...TOOLS, reasoning: true } as const;
    const path = (streams: boolean): string => CLIENTS[client].path(model, streams);
    const first = await (await gateway.post(path(stream), face.ask(question, model, stream))).text();
    const own = face.giveBack(stream ? face.gather(first) : (JSON.parse(first) as Json), forgets);
    const turns = [...TOOLS.turns, { own }, { results: [{ id, name: 'get_weather', text: 'sunny' }] }];
    const second = await gateway.post(path(false), face.ask({ ...question, turns }, model, false));
    expect([second.status, await second.text()]).toEqual([200, expect.stringContaining('Done.')]);
    const given = list(upstream.requests[1]?.json, 'messages').find(
      (each) => at(each, 'role') === 'assistant',
    );
    expect(statesIn(given)).toEqual([state]);
    expect(at(given, 'tool_calls', 0, 'function', 'name')).toBe('get_weather');
  },
);
