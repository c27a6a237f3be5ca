// The gateway's own tools as clients of the other protocols see them: blocks of server tools for Anthropic's, grounding
// for Google's, annotations for Chat Completions; and histories with such blocks, sent on to whatever model.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { readChatStream, readCompletion } from '../../support/chat-shape.ts';
import { chunksOf, readAnswer } from '../../support/rules/gemini-stream-rules.ts';
import {
  readMessage,
  readMessagesStream,
  type ReadMessage,
} from '../../support/rules/messages-stream-rules.ts';
import type { Loose } from '../../support/recordings/loose.ts';
import { messagesBody, whole } from '../../support/upstreams/answers.ts';
import { kept, KEEPINGS, resultsFor, takeTurn } from '../../support/upstreams/chat-turn.ts';
import { startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import {
  NO_ANSWER,
  serverAt,
  SIMULATED,
  SIMULATED_BOTH,
  startToolScene,
} from '../../support/upstreams/tool-scene.ts';
import { says, reported, WEATHER } from '../../support/responses-scene.ts';

const scene = await startToolScene();
beforeEach(() => scene.web.clear());
afterAll(() => scene[Symbol.asyncDispose]());

const CALL = 'call web_search {"query": "longest river"}';
const SUM = 'call sums__add {"a": 1, "b": 2}';
const CITED = 'Ünï 🎉: the Ounas[1].';

describe.each(SIMULATED_BOTH)('clients of Messages, %s, streamed: %p', (model, stream) => {
  const SEARCH = { type: 'web_search_20250305', name: 'web_search', max_uses: 1 };
  const go = async (body: object): Promise<ReadMessage> => {
    const given = { model, max_tokens: 4000, stream, tools: [SEARCH], ...body };
    const response = await scene.gateway.post('/messages', given);
    const text = await response.text();
    if (response.status !== 200) throw new Error(text);
    return stream ? readMessagesStream(text) : readMessage(JSON.parse(text));
  };
  const user = (content: string): object => ({ role: 'user', content });
  const toolsOf = ({ content }: ReadMessage): ReadMessage['content'] =>
    content.filter(({ type }) => !/^(redacted_)?thinking$/.test(String(type)));

  test('get the call, the results and the cited text of a search', async () => {
    const answer = await go({ messages: [user(CALL)] });
    const [use, found, text] = toolsOf(answer);
    const id = use?.['id'];
    expect<unknown>(use).toEqual({
      type: 'server_tool_use',
      id,
      name: 'web_search',
      input: { query: 'longest river' },
      caller: { type: 'direct' },
    } as object);
    expect(String(id)).toStartWith('srvtoolu_');
    expect(found).toMatchObject({
      type: 'web_search_tool_result',
      tool_use_id: id,
      caller: { type: 'direct' },
    } as object);
    expect(list(found, 'content').map((page) => at(page, 'url') ?? null)).toEqual([
      `${scene.web.origin}/ounas`,
      `${scene.web.origin}/tenojoki`,
    ]);
    expect(at(text, 'citations', 0)).toMatchObject({
      type: 'web_search_result_location',
      url: `${scene.web.origin}/ounas`,
    } as object);
    expect(answer.stopReason).toBe('end_turn');
    expect(at(answer.usage, 'server_tool_use', 'web_search_requests')).toBe(1);
  });

  test('`max_uses` ends the searches', async () => {
    const answer = await go({ messages: [user(`${CALL}\ncall web_search {"query": "again"}`)] });
    expect(scene.web.searches).toHaveLength(1);
    expect(JSON.stringify(answer.content)).toContain('At most 1 searches');
  });

  test('a forced search is made once, by its name or by `any`', async () => {
    for (const tool_choice of [{ type: 'tool', name: 'web_search' }, { type: 'any' }]) {
      scene.web.clear();
      const thinking = { type: 'disabled' };
      const answer = await go({ messages: [user('Rivers, please')], tool_choice, thinking });
      expect(scene.web.searches).toHaveLength(1);
      expect(answer.stopReason).toBe('end_turn');
    }
  });

  test('tools of a server', async () => {
    const answer = await go({
      messages: [user(`${SUM}\ncall sums__fail {}`)],
      mcp_servers: [{ type: 'url', name: 'sums', url: scene.mcp.url }],
      tools: [{ type: 'mcp_toolset', mcp_server_name: 'sums' }],
    });
    const [use, sum, , failed] = toolsOf(answer);
    expect(use).toMatchObject({
      type: 'mcp_tool_use',
      name: 'add',
      server_name: 'sums',
      input: { a: 1, b: 2 },
    } as object);
    expect<unknown>(sum).toEqual({
      type: 'mcp_tool_result',
      tool_use_id: use?.['id'],
      is_error: false,
      content: [{ type: 'text', text: 'the sum is 3' }],
    } as object);
    expect(failed).toMatchObject({ type: 'mcp_tool_result', is_error: true } as object);
    expect(JSON.stringify(failed)).toContain('out of paper');
  });

  test('tools of a server that are switched off are not offered', async () => {
    const before = scene.mcp.calls.length;
    await go({
      messages: [user(SUM)],
      mcp_servers: [{ type: 'url', name: 'sums', url: scene.mcp.url }],
      tools: [
        {
          type: 'mcp_toolset',
          mcp_server_name: 'sums',
          default_config: { enabled: false },
          configs: { echo: { enabled: true } },
        },
      ],
    });
    expect(scene.mcp.calls.slice(before).filter(({ name }) => name === 'add')).toEqual([]);
  });

  test('the history is sent to every model, with the search results', async () => {
    const first = await go({ messages: [user(CALL)] });
    const messages = [user(CALL), { role: 'assistant', content: first.content }, user('And now? No tools')];
    for (const other of SIMULATED) {
      const next = await go({ model: other, messages });
      expect(next.stopReason).toBe('end_turn');
    }
    scene.upstream.script(says('chat', [{ text: 'Done.' }]));
    await go({ model: 'to/chat', messages });
    expect(reported(scene.upstream.requests[0]).join('\n')).toContain('The Ounas is 299 km long.');
  });

  test('get a call of their own tool together with a search', async () => {
    const own = { name: 'get_weather', input_schema: WEATHER.parameters };
    const input = `${CALL}\ncall get_weather {"city": "Oulu"}`;
    const first = await go({ messages: [user(input)], tools: [SEARCH, own] });
    expect(first.stopReason).toBe('tool_use');
    const use = first.content.find(({ type }) => type === 'tool_use');
    const messages = [
      user(input),
      { role: 'assistant', content: first.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: use?.['id'], content: 'fog' }] },
    ];
    const second = await go({ messages, tools: [SEARCH, own] });
    expect(JSON.stringify(second.content)).toContain('fog');
  });
});

describe('Anthropic’s own service', () => {
  const block = (tail: string): object[] => [
    { type: 'server_tool_use', id: `srvtoolu_${tail}`, name: 'web_search', input: { query: 'q' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: `srvtoolu_${tail}`,
      content: [
        {
          type: 'web_search_result',
          url: 'https://a.example/',
          title: 'A',
          encrypted_content: 'dragoman.What it says',
          page_age: null,
        },
      ],
    },
    {
      type: 'text',
      text: 'So it is.',
      citations: [
        {
          type: 'web_search_result_location',
          url: 'https://a.example/',
          title: 'A',
          cited_text: '[1]',
          encrypted_index: 'dragoman',
        },
      ],
    },
  ];

  test.each([true, false])(
    'never gets ids that it did not make (with a search tool: %p)',
    async (hasTool) => {
      await using faithful = await startScene(['a'], { faithful: true });
      const upstream = faithful.upstream('a');
      upstream.always(whole(messagesBody([{ type: 'text', text: 'Yes.' }], 'end_turn')));
      const body = {
        model: 'one/messages',
        max_tokens: 100,
        ...(hasTool && { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }),
        messages: [
          { role: 'user', content: 'Look it up' },
          { role: 'assistant', content: block('dragoman_ws_1') },
          { role: 'user', content: 'Sure?' },
        ],
      };
      expect((await faithful.gateway.post('/messages', body)).status).toBe(200);
      const [sent] = upstream.requests;
      expect(sent?.text).not.toContain('srvtoolu_dragoman');
      expect(sent?.text).not.toContain('"encrypted_index":"dragoman"');
      expect(sent?.text).toContain('What it says');
      // Its own come back to it as they are.
      const own = {
        ...body,
        messages: [body.messages[0], { role: 'assistant', content: block('01Abc') }, body.messages[2]],
      };
      await faithful.gateway.post('/messages', own);
      expect(upstream.requests[1]?.text).toContain('"id":"srvtoolu_01Abc"');
    },
  );
});

describe.each([false, true])('clients of Gemini, streamed: %p', (stream) => {
  const go = async (model: string, text: string): Promise<ReturnType<typeof readAnswer>> => {
    const operation = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    const address = `${scene.gateway.origin}/v1beta/models/${encodeURIComponent(model)}:${operation}`;
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'x-goog-api-key': scene.gateway.key, 'content-type': 'application/json' },
      body: JSON.stringify({
        contents: [{ role: 'user', parts: [{ text }] }],
        tools: [{ googleSearch: {} }],
      }),
    });
    const body = await response.text();
    if (response.status !== 200) throw new Error(body);
    return readAnswer(stream ? chunksOf(body) : [JSON.parse(body) as Loose]);
  };

  test.each(SIMULATED)('%s: the response contains the sources of its text', async (model) => {
    const answer = await go(model, CALL);
    expect(answer.problems).toEqual([]);
    expect(answer.finish).toBe('STOP');
    const { groundingMetadata } = JSON.parse(answer.grounding) as Record<string, Json>;
    expect(
      list(groundingMetadata, 'groundingChunks').map((chunk) => at(chunk, 'web', 'title') ?? null),
    ).toEqual(['The Ounas', 'Tenojoki']);
    expect(list(groundingMetadata, 'groundingSupports')).toHaveLength(3);
  });

  test('places are counted in bytes', async () => {
    scene.upstream.script(
      says('chat', [{ call: 'web_search', id: 'call_1', args: { query: 'q' } }]),
      says('chat', [{ text: CITED }]),
    );
    const { groundingMetadata } = JSON.parse((await go('to/chat', 'Go')).grounding) as Record<string, Json>;
    const segment = at(groundingMetadata, 'groundingSupports', 0, 'segment');
    const bytes = Buffer.from(CITED);
    const [from, to] = [Number(at(segment, 'startIndex')), Number(at(segment, 'endIndex'))];
    expect(bytes.subarray(from, to).toString()).toBe('[1]');
    expect(at(segment, 'text')).toBe('[1]');
  });
});

describe.each([false, true])('clients of Chat Completions, streamed: %p', (stream) => {
  const go = async (
    body: object,
  ): Promise<{ text: string; annotations: readonly Json[]; finish: string; usage: Json }> => {
    const given = { stream, ...(stream && { stream_options: { include_usage: true } }), ...body };
    const response = await scene.gateway.post('/chat/completions', given);
    const text = await response.text();
    if (response.status !== 200) throw new Error(text);
    if (!stream) {
      const answer = readCompletion(text);
      return {
        text: String(at(answer, 'choices', 0, 'message', 'content')),
        annotations: list(answer, 'choices', 0, 'message', 'annotations'),
        finish: String(at(answer, 'choices', 0, 'finish_reason')),
        usage: at(answer, 'usage') ?? null,
      };
    }
    const { text: streamed, chunks } = readChatStream(text);
    return {
      text: streamed,
      annotations: chunks.flatMap((chunk) => list(chunk, 'choices', 0, 'delta', 'annotations')),
      finish: String(
        chunks.map((chunk) => at(chunk, 'choices', 0, 'finish_reason')).findLast((reason) => reason),
      ),
      usage: chunks.map((chunk) => at(chunk, 'usage')).findLast((usage) => usage) ?? null,
    };
  };
  const messages = (content: string): object[] => [{ role: 'user', content }];

  test.each(SIMULATED)('%s: annotations, by either way to ask', async (model) => {
    for (const wish of [
      { tools: [{ type: 'web_search' }] },
      { web_search_options: { search_context_size: 'low' } },
    ]) {
      const answer = await go({ model, messages: messages(CALL), ...wish });
      expect(answer.finish).toBe('stop');
      const marked = answer.annotations.map((each) =>
        answer.text.slice(
          Number(at(each, 'url_citation', 'start_index')),
          Number(at(each, 'url_citation', 'end_index')),
        ),
      );
      expect(marked).toEqual(['[1]', '[2]', '[1]']);
      expect(Number(at(answer.usage, 'cost'))).toBeGreaterThan(0.01);
    }
  });

  test('text before and after a tool call is one text, with correct citations', async () => {
    const calls = [{ call: 'web_search', id: 'call_1', args: { query: 'q' } }];
    scene.upstream.script(
      says('chat', [{ text: 'Let me look. ' }, ...calls]),
      says('chat', [{ text: CITED }]),
    );
    const answer = await go({ model: 'to/chat', messages: messages('Go'), tools: [{ type: 'web_search' }] });
    const [citation] = answer.annotations;
    const [from, to] = [
      at(citation, 'url_citation', 'start_index'),
      at(citation, 'url_citation', 'end_index'),
    ];
    expect(answer.text.slice(Number(from), Number(to))).toBe('[1]');
    expect(answer.text).toStartWith('Let me look.');
    expect(answer.text).toEndWith(CITED);
  });

  test.each(SIMULATED)('use tools of a server with %s, and get calls of their own tools', async (model) => {
    const own = { type: 'function', function: { name: 'get_weather', parameters: WEATHER.parameters } };
    const tools = [serverAt(scene.mcp.url), own];
    expect((await go({ model, messages: messages(SUM), tools })).text).toContain('the sum is 3');
    const input = messages(`${SUM}\ncall get_weather {"city": "Oulu"}`);
    const mixed = await takeTurn(scene.gateway, { model, messages: input, tools }, stream);
    expect(mixed.finish).toBe('tool_calls');
    for (const keeping of KEEPINGS) {
      // The steps are left out: the client has never seen the first of them, and the model would count wrongly.
      const next = [...messages('Go on'), kept(mixed.message, keeping), ...resultsFor(mixed.message)];
      const { message } = await takeTurn(scene.gateway, { model, messages: next, tools }, stream);
      expect(message.content).toContain('result of get_weather');
    }
  });

  test('a failure after the search is an error of the protocol', async () => {
    const calls = [{ call: 'web_search', id: 'call_1', args: { query: 'q' } }];
    scene.upstream.script(says('chat', calls));
    const response = await scene.gateway.post('/chat/completions', {
      model: 'to/chat',
      stream,
      messages: messages('Go'),
      tools: [{ type: 'web_search' }],
    });
    const text = await response.text();
    if (stream && response.status === 200) expect(readChatStream(text)).toMatchObject({ done: false });
    else expect(response.status).toBe(502);
    expect(text).toContain('"error"');
  });
});

test('a server that cannot be listed is reported if the protocol has no item for it', async () => {
  await using lenient = await startToolScene({ mcp: () => ({ on_unlisted: 'continue' }) });
  const server = serverAt(`${lenient.web.origin}/no-mcp-here`);
  const chat = { model: 'sim/chat', messages: [{ role: 'user', content: 'Hi' }], tools: [server] };
  const response = await lenient.gateway.post('/chat/completions', chat);
  expect(response.status).toBe(200);
  expect(response.headers.get('x-dragoman-report')).toStartWith('tools[0]:dropped');
  const strict = await lenient.gateway.post('/chat/completions', chat, { 'x-dragoman-strict': 'true' });
  expect(strict.status).toBe(400);
  expect(String(at(await strict.json(), 'error', 'message'))).toContain('MCP server "sums"');
});

test('a search is stopped when its client has disconnected', async () => {
  scene.web.next(NO_ANSWER);
  const leave = new AbortController();
  const asked: Promise<unknown> = fetch(`${scene.gateway.origin}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': scene.gateway.key, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sim/chat',
      max_tokens: 100,
      messages: [{ role: 'user', content: CALL }],
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    }),
    signal: leave.signal,
  });
  await scene.web.searched(1);
  leave.abort();
  expect(await asked.catch((error: unknown) => error)).toBeInstanceOf(Error);
  await scene.web.searches[0]?.gone;
});
