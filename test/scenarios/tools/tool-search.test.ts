// Web search that the gateway runs for models that have none, as clients of the Responses API see it: items, events,
// sources, citations, pages, limits, failures and costs, over every protocol of the upstream, streamed and whole.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { recordOf } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import {
  found,
  geminiSays,
  hitsAt,
  NO_ANSWER,
  SIMULATED_BOTH,
  startToolScene,
} from '../../support/upstreams/tool-scene.ts';
import { answered, ask, says, reported, type Answered } from '../../support/responses-scene.ts';

const scene = await startToolScene();
beforeEach(() => scene.web.clear());
afterAll(() => scene[Symbol.asyncDispose]());

const SEARCH = { type: 'web_search' };
const CALL = 'call web_search {"query": "longest river"}';

function searchesOf({ body }: Answered): readonly Json[] {
  return list(body, 'output').filter((item) => at(item, 'type') === 'web_search_call');
}

function messageOf({ body }: Answered): { text: string; annotations: readonly Json[] } {
  const message = list(body, 'output').findLast((item) => at(item, 'type') === 'message');
  return {
    text: String(at(message, 'content', 0, 'text')),
    annotations: list(message, 'content', 0, 'annotations'),
  };
}

/** Every citation marks exactly the words that make it. */
function expectCitations(answer: Answered, marks: readonly string[]): void {
  const { text, annotations } = messageOf(answer);
  const marked = annotations.map((each) =>
    text.slice(Number(at(each, 'start_index')), Number(at(each, 'end_index'))),
  );
  expect(marked).toEqual([...marks]);
  for (const each of annotations) expect(at(each, 'type')).toBe('url_citation');
}

describe.each(SIMULATED_BOTH)('%s, streamed: %p', (model, stream) => {
  const go = (body: object, headers?: Record<string, string>): Promise<Answered> =>
    ask(scene, 'chat', { model, tools: [SEARCH], ...body }, stream, headers);

  test('shows the item of a search, the answer and its citations', async () => {
    const answer = await go({ input: `Which is it?\n${CALL}` });
    const [item] = searchesOf(answer);
    expect(item).toEqual({
      id: expect.stringMatching(/^ws_\w+$/),
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'search', query: 'longest river', queries: ['longest river'] },
    });
    const { text, annotations } = messageOf(answer);
    expect(text).toContain('The Ounas is 299 km long.');
    expectCitations(answer, ['[1]', '[2]', '[1]']);
    expect(annotations[1]).toMatchObject({ title: 'Tenojoki', url: `${scene.web.origin}/tenojoki` });
    expect(scene.web.searches.map(({ query }) => query)).toEqual(['longest river']);
    expect(at(answer.body, 'tools')).toEqual([SEARCH]);
    expect(at(answer.body, 'tool_choice')).toBe('auto');
  });

  test.each(['web_search_preview', 'web_search_2025_08_26', 'web_search_preview_2025_03_11'])(
    'is the same under the name %s',
    async (type) => {
      const answer = await go({ input: CALL, tools: [{ type, search_context_size: 'low' }] });
      expect(searchesOf(answer)).toHaveLength(1);
      expect(at(answer.body, 'tools', 0, 'type')).toBe(type);
    },
  );

  test('sources and results are included only if `include` asks for them', async () => {
    const asked = await go({ input: CALL, include: ['web_search_call.action.sources'] });
    expect(at(searchesOf(asked)[0], 'action', 'sources')).toEqual(
      hitsAt(scene.web.origin).map(({ url }) => ({ type: 'url', url })),
    );
    expect(searchesOf(asked)[0]).not.toHaveProperty('results');
    const results = await go({ input: CALL, include: ['web_search_call.results'] });
    expect(at(searchesOf(results)[0], 'results', 0, 'text')).toBe('The Ounas is 299 km long.');
    expect(at(searchesOf(results)[0], 'action')).not.toHaveProperty('sources');
    const kept = await scene.gateway.get(`/responses/${results.id}`);
    expect(at(await kept.json(), 'output', 0, 'results')).toBeUndefined();
  });

  test('pages are opened and looked through, once for both', async () => {
    const url = `${scene.web.origin}/ounas`;
    const answer = await go({
      input: `Read.\n${CALL}\ncall open_page {"url": "${url}"}\ncall find_in_page {"url": "${url}", "pattern": "salmon"}`,
      include: ['web_search_call.action.sources'],
    });
    expect(searchesOf(answer).map((item) => at(item, 'action', 'type') ?? null)).toEqual([
      'search',
      'open_page',
      'find_in_page',
    ]);
    expect(searchesOf(answer).slice(1)).toMatchObject([
      { status: 'completed', action: { type: 'open_page', url } },
      { status: 'completed', action: { type: 'find_in_page', url, pattern: 'salmon' } },
    ] as object[]);
    expect(scene.web.reads).toEqual(['/ounas']);
    expect(messageOf(answer).text).toContain('Salmon live there.');
    expect(messageOf(answer).text).toContain('[1] The Ounas');
  });

  test('only the domains that are allowed are found and opened', async () => {
    scene.web.next(() =>
      found([
        ...hitsAt(scene.web.origin),
        { url: 'https://docs.example.com/a', title: 'Allowed', text: 'Yes.' },
        { url: 'https://example.org/b', title: 'Another', text: 'No.' },
      ]),
    );
    const answer = await go({
      input: `${CALL}\ncall open_page {"url": "${scene.web.origin}/ounas"}`,
      tools: [{ ...SEARCH, filters: { allowed_domains: ['example.com'] } }],
      include: ['web_search_call.action.sources'],
    });
    const [search, page] = searchesOf(answer);
    expect(at(search, 'action', 'sources')).toEqual([{ type: 'url', url: 'https://docs.example.com/a' }]);
    expect(at(page, 'status')).toBe('failed');
    expect(scene.web.reads).toEqual([]);
    expect(scene.web.searches[0]?.query).toContain('site:example.com');
    expect(messageOf(answer).text).toContain('not allowed');
  });

  test('the model is informed about a failed search engine, and responds', async () => {
    scene.web.next(() => new Response('broken', { status: 500 }));
    const answer = await go({ input: CALL });
    expect(at(searchesOf(answer)[0], 'status')).toBe('failed');
    expect(at(answer.body, 'status')).toBe('completed');
    expect(messageOf(answer).text).toContain('it returned status 500');
    expectCitations(answer, []);
  });

  test('several turns: pages keep their numbers, the counts are those of all turns', async () => {
    scene.web.next(
      () => found(hitsAt(scene.web.origin)),
      () => found([{ url: 'https://new.example/', title: 'New', text: 'n' }, ...hitsAt(scene.web.origin)]),
    );
    const answer = await go({ input: `Twice.\n${CALL}\ncall web_search {"query": "again"}` });
    expect(searchesOf(answer)).toHaveLength(2);
    // The last result quotes the second search: the new page is the third, the old ones are still first and second.
    expect(messageOf(answer).text).toMatch(/\[3\] New[^]*\[1\] The Ounas[^]*\[2\] Tenojoki/);
    const record = await recordOf(scene.gateway, asResponse(answer));
    expect(list(record, 'attempts')).toHaveLength(3);
    expect(at(record, 'requestRetryTimes')).toBe(0);
    const counted = list(record, 'attempts').map((each) => Number(at(each, 'tokens', 'completion_tokens')));
    expect(at(answer.body, 'usage', 'output_tokens')).toBe(counted.reduce((sum, each) => sum + each, 0));
  });
});

/** The id of the generation is that of the response. */
function asResponse({ id }: Answered): Response {
  return new Response('', { headers: { 'x-request-id': id.replace(/^resp_/, '') } });
}

describe('the events', () => {
  test.each(SIMULATED_BOTH.filter(([, stream]) => stream).map(([model]) => model))(
    'have the order of OpenAI for %s',
    async (model) => {
      const answer = await ask(scene, 'chat', { model, tools: [SEARCH], input: CALL }, true);
      const item = searchesOf(answer)[0];
      const own = answer.frames
        .map(({ data }) => JSON.parse(data) as Json)
        .filter((event) => (at(event, 'item_id') ?? at(event, 'item', 'id')) === at(item, 'id'));
      expect(own.map((event) => at(event, 'type') ?? null)).toEqual([
        'response.output_item.added',
        'response.web_search_call.in_progress',
        'response.web_search_call.searching',
        'response.web_search_call.completed',
        'response.output_item.done',
      ]);
      expect(at(own[0], 'item', 'status')).toBe('in_progress');
      expect(new Set(own.map((event) => at(event, 'output_index'))).size).toBe(1);
    },
  );

  test('the client reads that a search runs while it runs', async () => {
    let finish = (): void => {};
    scene.web.next(() => new Promise((resolve) => (finish = () => resolve(found(hitsAt(scene.web.origin))))));
    const response = await scene.gateway.post('/responses', {
      model: 'sim/chat',
      stream: true,
      tools: [SEARCH],
      input: CALL,
    });
    const copies = response.body?.tee() ?? [];
    const reader = copies[0]?.getReader();
    const decoder = new TextDecoder();
    let text = '';
    while (!text.includes('web_search_call.searching')) {
      const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
      if (done) throw new Error(text);
      text += decoder.decode(value, { stream: true });
    }
    expect(text).not.toContain('web_search_call.completed');
    await scene.web.searched(1);
    finish();
    const answer = await answered(new Response(copies[1], { headers: response.headers }));
    expect(at(answer.body, 'status')).toBe('completed');
  });
});

describe('citations', () => {
  const TEXT = 'Ünïcode 🎉 first[1], then 【2†source】, a [link](URL/ounas), [9] and [1](no) — done[2]';

  test.each(['chat', 'responses', 'messages', 'gemini'] as const)(
    'are read from text over %s',
    async (way) => {
      const text = TEXT.replace('URL', scene.web.origin);
      const calls = [{ call: 'web_search', id: 'call_1', args: { query: 'q' } }];
      for (const stream of [false, true]) {
        if (way === 'gemini')
          scene.upstream.script(
            geminiSays([{ functionCall: { name: 'web_search', args: { query: 'q' } } }]),
            geminiSays([{ text }]),
          );
        else scene.upstream.script(says(way, calls), says(way, [{ text }]));
        const model = `to/${way}`;
        const answer = await ask(scene, 'chat', { model, tools: [SEARCH], input: 'Go' }, stream);
        expect(messageOf(answer).text).toBe(text);
        expectCitations(answer, ['[1]', '【2†source】', `[link](${scene.web.origin}/ounas)`, '[2]']);
      }
    },
  );

  test('are read from a text that arrives one character at a time', async () => {
    const text = TEXT.replace('URL', scene.web.origin);
    const chunk = (delta: object, finish: string | null = null): string =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    scene.upstream.script(
      says('chat', [{ call: 'web_search', id: 'call_1', args: { query: 'q' } }]),
      (exchange) => {
        exchange.openStream();
        for (const letter of text) exchange.chunk(chunk({ content: letter }));
        exchange.chunk(chunk({}, 'stop') + 'data: [DONE]\n\n');
        exchange.endStream();
      },
    );
    const answer = await ask(scene, 'chat', { tools: [SEARCH], input: 'Go' }, true);
    expectCitations(answer, ['[1]', '【2†source】', `[link](${scene.web.origin}/ounas)`, '[2]']);
  });

  test('of an upstream that searches itself stay as they are, and nothing is searched here', async () => {
    const own = { model: 'sim/responses', input: 'Search the web for tea', tools: [SEARCH] };
    await using native = await startToolScene({ models: nativeModels() });
    const answer = await ask(native, 'chat', { ...own, model: 'native' }, true);
    expect(native.web.searches).toHaveLength(0);
    expect(searchesOf(answer)).toHaveLength(1);
    expect(messageOf(answer).annotations.length).toBeGreaterThan(0);
    await using never = await startToolScene({ models: nativeModels(), search: { native: 'never' } });
    const ours = await ask(never, 'chat', { ...own, model: 'native', input: CALL }, true);
    expect(never.web.searches).toHaveLength(1);
    expect(searchesOf(ours)).toHaveLength(1);
  });
});

function nativeModels(): readonly object[] {
  const endpoints = [{ provider: 'sim', model: 'responses', quirks: { searches_web: true } }];
  return [{ id: 'native', endpoints }];
}

describe('limits', () => {
  test('a slow engine is stopped after its time limit, and the model is informed', async () => {
    const clock = new ArmedClock();
    await using slow = await startToolScene({ clock, search: { timeout_ms: 1234 } });
    slow.web.next(NO_ANSWER);
    const asked = ask(slow, 'chat', { model: 'sim/chat', tools: [SEARCH], input: CALL }, false);
    await slow.web.searched(1);
    clock.advance(1300);
    const answer = await asked;
    expect(at(searchesOf(answer)[0], 'status')).toBe('failed');
    expect(messageOf(answer).text).toContain('longer than');
  });

  test('`max_tool_calls` applies across turns and tools; further calls are neither run nor shown', async () => {
    for (const stream of [false, true]) {
      scene.web.clear();
      const input = `${CALL}\ncall web_search {"query": "b"}\ncall web_search {"query": "c"}`;
      const body = { model: 'sim/chat', tools: [SEARCH], input, max_tool_calls: 2 };
      const answer = await ask(scene, 'chat', body, stream);
      expect(scene.web.searches).toHaveLength(2);
      expect(searchesOf(answer)).toHaveLength(2);
      expect(at(answer.body, 'status')).toBe('completed');
      expect(at(answer.body, 'max_tool_calls')).toBe(2);
    }
  });

  test('of several calls in one turn only as many as are allowed run', async () => {
    const calls = ['a', 'b', 'c'].map((query) => ({
      call: 'web_search',
      id: `call_${query}`,
      args: { query },
    }));
    scene.upstream.script(says('chat', calls), says('chat', [{ text: 'Enough.' }]));
    const answer = await ask(scene, 'chat', { tools: [SEARCH], input: 'Go', max_tool_calls: 2 }, true);
    expect(scene.web.searches.map(({ query }) => query).toSorted()).toEqual(['a', 'b']);
    expect(searchesOf(answer)).toHaveLength(2);
    const lines = reported(scene.upstream.requests[1]);
    expect(lines.filter((line) => line.startsWith('call '))).toHaveLength(3);
    expect(lines.find((line) => line.startsWith('result call_c'))).toContain('At most 2 tool calls');
  });
});

describe('the cost of a search', () => {
  test.each([false, true])('is included in the response and the record (streamed: %p)', async (stream) => {
    const answer = await ask(scene, 'chat', { model: 'sim/chat', tools: [SEARCH], input: CALL }, stream);
    const record = await recordOf(scene.gateway, asResponse(answer));
    const count = (name: string): number => Number(at(answer.body, 'usage', name));
    const [input, output] = [count('input_tokens') / 1e6, (4 * count('output_tokens')) / 1e6];
    expect(count('cost')).toBeCloseTo(0.01 + input + output, 9);
    expect(at(record, 'cost', 'usd')).toBe(count('cost'));
    expect(at(record, 'cost', 'items', 'tools')).toBe(0.01);
    expect(at(record, 'nativeTokens', 'tool_calls')).toEqual({ web_search: 1 });
  });

  test('is charged also if the response of the engine is unreadable, but not if the engine refused it', async () => {
    scene.web.next(
      () => Response.json({ nonsense: true }),
      () => new Response('broken', { status: 500 }),
    );
    const input = `${CALL}\ncall web_search {"query": "again"}`;
    const answer = await ask(scene, 'chat', { model: 'sim/chat', tools: [SEARCH], input }, false);
    expect(searchesOf(answer).map((item) => at(item, 'status') ?? null)).toEqual(['failed', 'failed']);
    const record = await recordOf(scene.gateway, asResponse(answer));
    expect(at(record, 'nativeTokens', 'tool_calls')).toEqual({ web_search: 1 });
    expect(at(record, 'cost', 'items', 'tools')).toBe(0.01);
  });

  test('is unknown if its price is not configured', async () => {
    await using free = await startToolScene({ search: { price_usd_per_search: undefined } });
    const answer = await ask(free, 'chat', { model: 'sim/chat', tools: [SEARCH], input: CALL }, false);
    expect(at(answer.body, 'usage', 'cost') ?? null).toBeNull();
    const record = await recordOf(free.gateway, asResponse(answer));
    expect([at(record, 'usage'), at(record, 'cost', 'usd')]).toEqual([null, null]);
    expect(Number(at(record, 'attempts', 0, 'cost', 'usd'))).toBeGreaterThan(0);
    const plain = await ask(free, 'chat', { model: 'sim/chat', input: 'Hello' }, false);
    expect(Number(at(plain.body, 'usage', 'cost'))).toBeGreaterThan(0);
  });
});
