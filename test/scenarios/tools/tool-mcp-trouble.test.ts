// MCP servers in trouble while the gateway calls them: too slow, dying, crowded. The answer comes nevertheless, and no
// session is left behind.
import { describe, expect, test } from 'bun:test';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import type { McpServerScript } from '../../support/upstreams/mcp-server.ts';
import { serverAt, startToolScene } from '../../support/upstreams/tool-scene.ts';
import { PNG } from '../../support/images.ts';
import { ask, says, type Answered } from '../../support/responses-scene.ts';

const TOOLS: McpServerScript['tools'] = {
  die: {
    run: (_, { die }) => {
      die();
      return new Promise(() => {});
    },
  },
};

function itemsOf({ body }: Answered, type: string): readonly Json[] {
  return list(body, 'output').filter((item) => at(item, 'type') === type);
}

const namesIn = (item: Json | undefined): Json[] =>
  list(item, 'tools').map((tool) => at(tool, 'name') ?? null);

describe('servers in trouble', () => {
  test('a tool that is too slow is cancelled, and its session ends', async () => {
    const clock = new ArmedClock();
    const never: McpServerScript['tools'] = { wait: { run: () => new Promise(() => {}) } };
    await using slow = await startToolScene({ clock, tools: never, mcp: () => ({ timeout_ms: 1500 }) });
    const asked = ask(
      slow,
      'chat',
      { model: 'sim/chat', input: 'call sums__wait {}', tools: [serverAt(slow.mcp.url)] },
      false,
    );
    await slow.mcp.called('wait');
    clock.advance(1501);
    const answer = await asked;
    expect(String(at(itemsOf(answer, 'mcp_call')[0], 'error', 'message'))).toContain(
      'took longer than 1500 ms',
    );
    await slow.mcp.ended();
  });

  test('are reported when a server dies during a call', async () => {
    await using dying = await startToolScene({ tools: TOOLS });
    const body = { model: 'sim/messages', input: 'call sums__die {}', tools: [serverAt(dying.mcp.url)] };
    const answer = await ask(dying, 'chat', body, true);
    expect(at(itemsOf(answer, 'mcp_call')[0], 'status')).toBe('failed');
    expect(at(answer.body, 'status')).toBe('completed');
  });

  test('offer fifty tools', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 50 }, (_, n) => [
        `tool_${n}`,
        { description: `Number ${n}`, run: () => `it was ${n}` },
      ]),
    );
    await using crowd = await startToolScene({ tools: many, server: { pageSize: 7 } });
    const body = { model: 'sim/messages', input: 'call sums__tool_49 {}', tools: [serverAt(crowd.mcp.url)] };
    const answer = await ask(crowd, 'chat', body, true);
    expect(namesIn(itemsOf(answer, 'mcp_list_tools')[0])).toHaveLength(50);
    expect(at(itemsOf(answer, 'mcp_call')[0], 'output')).toBe('it was 49');
    await crowd.mcp.ended();
  });

  test.each([false, true])(
    'a client that disconnects ends the call and the session (streamed: %p)',
    async (stream) => {
      let ended = (): void => {};
      const aborted = new Promise<void>((resolve) => (ended = resolve));
      const wait: McpServerScript['tools'] = {
        wait: {
          run: (_, { signal }) => {
            signal.addEventListener('abort', ended);
            return new Promise(() => {});
          },
        },
      };
      await using left = await startToolScene({ tools: wait });
      const leave = new AbortController();
      const asked = fetch(`${left.gateway.baseURL}/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${left.gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'sim/chat',
          stream,
          input: 'call sums__wait {}',
          tools: [serverAt(left.mcp.url)],
        }),
        signal: leave.signal,
      }).then((response) => response.text());
      await left.mcp.called('wait');
      leave.abort();
      expect(await asked.catch((error: unknown) => error)).toBeInstanceOf(Error);
      await aborted;
      await left.mcp.ended();
    },
  );
});

describe('a result that models cannot read as it is', () => {
  const svg = { type: 'image', data: 'PHN2Zy8+', mimeType: 'image/svg+xml' };
  const pngAsJpeg = { type: 'image', data: PNG, mimeType: 'image/jpeg' };
  const link = { type: 'resource_link', uri: 'file:///a', name: 'a' };
  const results: Readonly<Record<string, object>> = {
    drawing: { content: [svg] },
    nothing: { content: [{ ...svg, mimeType: 'image/png', data: '' }] },
    mislabelled: { content: [pngAsJpeg] },
    shouted: { content: [{ ...pngAsJpeg, mimeType: 'IMAGE/PNG; charset=binary' }] },
    seen: { content: [pngAsJpeg], structuredContent: { degrees: 21 } },
    linked: { content: [link], structuredContent: { degrees: 21 } },
    text: { content: 'just a text' },
    task: { task: { taskId: '1', status: 'working' }, _meta: { trace: 1 } },
  };

  test.each([
    ['an image of another format is described', 'drawing', '{"type":"image","mimeType":"image/svg+xml"}'],
    ['an image without data is described', 'nothing', '{"type":"image","mimeType":"image/png"}'],
    ['an image has the format of its bytes', 'mislabelled', '[image image/png]'],
    ['the name of a format may have any form', 'shouted', '[image image/png]'],
    ['structured content stands beside an image', 'seen', '[image image/png]\n{"degrees":21}'],
    ['structured content stands beside a link', 'linked', `${JSON.stringify(link)}\n{"degrees":21}`],
    ['content may be a text', 'text', 'just a text'],
    ['another form is shown as JSON', 'task', '{"task":{"taskId":"1","status":"working"}}'],
  ])('%s', async (_, name, output) => {
    await using scene = await startToolScene({ tools: { [name]: { run: () => results[name] } } });
    scene.upstream.script(
      says('messages', [{ call: `sums__${name}`, id: 'call_a', args: {} }]),
      says('messages', [{ text: 'Seen.' }]),
    );
    const body = { input: 'Look', tools: [serverAt(scene.mcp.url)] };
    const answer = await ask(scene, 'messages', body, true);
    expect(at(itemsOf(answer, 'mcp_call')[0], 'output')).toBe(output);
    const [result] = list(scene.upstream.requests[1]?.json, 'messages').slice(-1);
    const image = at(result, 'content', 0, 'content', 0, 'source', 'media_type');
    expect(image).toBe(output.startsWith('[image') ? 'image/png' : undefined);
  });
});
