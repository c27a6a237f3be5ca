// Calls of MCP tools that wait for a person: asked, allowed, refused, answered late, twice or wrongly, in the same
// process and after its death. The five complaints about approvals elsewhere (pains 56) are the acceptance list.
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshFolder, NO_OVERLOAD, type Program, runtimePid, startProgram } from '../../support/program.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { startMcpServer } from '../../support/upstreams/mcp-server.ts';
import { MCP_TOOLS, serverAt, SIMULATED_BOTH, startToolScene } from '../../support/upstreams/tool-scene.ts';
import { answered, ask, says, reported, type Answered } from '../../support/responses-scene.ts';
import { PNG } from '../../support/images.ts';

const scene = await startToolScene({
  tools: {
    ...MCP_TOOLS,
    picture: { run: () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }) },
  },
});
afterAll(() => scene[Symbol.asyncDispose]());

const SUM = 'Add.\ncall sums__add {"a": 1, "b": 2}';

function typesOf({ body }: Answered): string[] {
  return list(body, 'output')
    .map((item) => String(at(item, 'type')))
    .filter((type) => type !== 'reasoning');
}

function questionsIn({ body }: Answered): readonly Json[] {
  return list(body, 'output').filter((item) => at(item, 'type') === 'mcp_approval_request');
}

const allow = (question: Json | undefined, approve = true, reason?: string): object => ({
  type: 'mcp_approval_response',
  approval_request_id: at(question, 'id'),
  approve,
  ...(reason !== undefined && { reason }),
});

const asking = (url: string, members: object = {}): object =>
  serverAt(url, { require_approval: 'always', ...members });

describe.each(SIMULATED_BOTH)('%s, streamed: %p', (model, stream) => {
  const go = (body: object): Promise<Answered> =>
    ask(scene, 'chat', { model, tools: [asking(scene.mcp.url)], ...body }, stream);

  test('the response ends with an approval request; after approval, the call runs and the model continues', async () => {
    const before = scene.mcp.calls.length;
    const first = await go({ input: SUM });
    expect(typesOf(first)).toEqual(['mcp_list_tools', 'mcp_approval_request']);
    const [question] = questionsIn(first);
    expect(question).toEqual({
      id: expect.stringMatching(/^mcpr_\w+$/),
      type: 'mcp_approval_request',
      server_label: 'sums',
      name: 'add',
      arguments: '{"a":1,"b":2}',
    });
    expect(at(first.body, 'status')).toBe('completed');
    expect(scene.mcp.calls).toHaveLength(before);
    const second = await go({ input: [allow(question)], previous_response_id: first.id });
    expect(typesOf(second)).toEqual(['mcp_call', 'message']);
    expect(at(second.body, 'output', 0)).toMatchObject({
      status: 'completed',
      approval_request_id: at(question, 'id'),
      output: 'the sum is 3',
    } as object);
    expect(JSON.stringify(at(second.body, 'output'))).toContain('sums__add returned: the sum is 3');
    expect(scene.mcp.calls).toHaveLength(before + 1);
    // Later turns do not make it again.
    const third = await go({ input: 'Thanks, no tools', previous_response_id: second.id });
    expect(typesOf(third)).toEqual(['message']);
    expect(scene.mcp.calls).toHaveLength(before + 1);
  });

  test('approval works with items that the client sends back', async () => {
    const first = await go({ input: SUM, store: false, include: ['reasoning.encrypted_content'] });
    const [question] = questionsIn(first);
    const input = [{ role: 'user', content: SUM }, ...list(first.body, 'output'), allow(question)];
    const second = await go({ input, store: false, include: ['reasoning.encrypted_content'] });
    expect(typesOf(second)).toEqual(['mcp_call', 'message']);
    const goneOn = [...input, ...list(second.body, 'output'), { role: 'user', content: 'Thanks, no tools' }];
    const third = await go({ input: goneOn, store: false });
    expect(typesOf(third)).toEqual(['message']);
  });

  test('a denied call is not made, and the model reads the reason', async () => {
    const before = scene.mcp.calls.length;
    const first = await go({ input: SUM });
    const no = allow(questionsIn(first)[0], false, 'Too dangerous');
    const second = await go({ input: [no], previous_response_id: first.id });
    expect(typesOf(second)).toEqual(['message']);
    expect(JSON.stringify(at(second.body, 'output'))).toContain('The user refused this call: Too dangerous');
    expect(scene.mcp.calls).toHaveLength(before);
  });

  test('another message instead of an approval is no approval', async () => {
    const before = scene.mcp.calls.length;
    const first = await go({ input: SUM });
    const second = await go({ input: 'What is 6 x 7? No tools', previous_response_id: first.id });
    expect(typesOf(second)).toEqual(['message']);
    // Over Messages result and question are one message, of which the simulated model quotes the first.
    expect(JSON.stringify(at(second.body, 'output'))).toMatch(/42|has not been approved/);
    expect(scene.mcp.calls).toHaveLength(before);
  });

  test('an approval of an unknown request is a 400 that names the field', async () => {
    const first = await go({ input: SUM });
    const input = [{ type: 'mcp_approval_response', approval_request_id: 'mcpr_unknown', approve: true }];
    const refused = await go({ input, previous_response_id: first.id });
    expect(refused.status).toBe(400);
    expect(at(refused.body, 'error', 'param')).toBe('input[0].approval_request_id');
    expect(String(at(refused.body, 'error', 'message'))).toContain('mcpr_unknown');
  });

  test('calls that are allowed by name run, and the others need approval', async () => {
    const never = { require_approval: { never: { tool_names: ['add'] } } };
    const tools = [serverAt(scene.mcp.url, never)];
    const answer = await go({ tools, input: `${SUM}\ncall sums__echo {"text": "hi"}` });
    expect(typesOf(answer)).toEqual(['mcp_list_tools', 'mcp_call', 'mcp_approval_request']);
    const readOnly = [serverAt(scene.mcp.url, { require_approval: { never: { read_only: true } } })];
    expect(typesOf(await go({ tools: readOnly, input: SUM }))).toEqual([
      'mcp_list_tools',
      'mcp_call',
      'message',
    ]);
  });

  test('calls need approval by default', async () => {
    const tools = [{ type: 'mcp', server_label: 'sums', server_url: scene.mcp.url }];
    expect(typesOf(await go({ tools, input: SUM }))).toEqual(['mcp_list_tools', 'mcp_approval_request']);
  });
});

const WAYS = ['chat', 'responses', 'messages'] as const;

describe.each(WAYS)('over %s', (way) => {
  test('of two approval requests, one can be approved and one denied', async () => {
    scene.upstream.script(
      says(way, [
        { text: 'I need two things.' },
        { call: 'sums__add', id: 'call_a', args: { a: 5, b: 5 } },
        { call: 'sums__echo', id: 'call_b', args: { text: 'hi' } },
      ]),
      says(way, [{ text: 'Done.' }]),
    );
    const tools = [asking(scene.mcp.url)];
    const first = await ask(scene, way, { input: 'Go', tools }, true);
    expect(typesOf(first)).toEqual([
      'mcp_list_tools',
      'message',
      'mcp_approval_request',
      'mcp_approval_request',
    ]);
    const [add, echo] = questionsIn(first);
    const input = [allow(echo, false), allow(add)];
    const second = await ask(scene, way, { input, tools, previous_response_id: first.id }, true);
    expect(typesOf(second)).toEqual(['mcp_call', 'message']);
    const lines = reported(scene.upstream.requests[1]);
    expect(lines.filter((line) => line.startsWith('call '))).toHaveLength(2);
    const results = lines.filter((line) => line.startsWith('result ')).join('\n');
    expect(results).toMatch(/the sum is 10[^]*The user refused this call\./);
  });

  test('two approval requests can be answered one after the other', async () => {
    scene.upstream.script(
      says(way, [
        { call: 'sums__add', id: 'call_a', args: { a: 5, b: 5 } },
        { call: 'sums__echo', id: 'call_b', args: { text: 'hi' } },
      ]),
      says(way, [{ text: 'One is missing.' }]),
      says(way, [{ text: 'Done.' }]),
    );
    const tools = [asking(scene.mcp.url)];
    const first = await ask(scene, way, { input: 'Go', tools }, false);
    const [add, echo] = questionsIn(first);
    const second = await ask(
      scene,
      way,
      { input: [allow(add)], tools, previous_response_id: first.id },
      false,
    );
    expect(reported(scene.upstream.requests[1]).join('\n')).toContain('This call has not been approved.');
    const third = await ask(
      scene,
      way,
      { input: [allow(echo)], tools, previous_response_id: second.id },
      false,
    );
    expect(at(third.body, 'output', 0)).toMatchObject({ type: 'mcp_call', output: 'hi' } as object);
    const before = scene.mcp.calls.length;
    const results = reported(scene.upstream.requests[2]).filter((line) => line.startsWith('result '));
    expect(results).toHaveLength(2);
    expect(scene.mcp.calls).toHaveLength(before);
  });

  test('a call that needs approval can occur with a call of the client and one that runs at once', async () => {
    scene.upstream.script(
      says(way, [
        { call: 'get_weather', id: 'call_c', args: { city: 'Oulu' } },
        { call: 'sums__add', id: 'call_a', args: { a: 5, b: 5 } },
        { call: 'sums__echo', id: 'call_b', args: { text: 'hi' } },
      ]),
      says(way, [{ text: 'Done.' }]),
    );
    const weather = { type: 'function', name: 'get_weather', parameters: { type: 'object', properties: {} } };
    const tools = [
      serverAt(scene.mcp.url, { require_approval: { never: { tool_names: ['add'] } } }),
      weather,
    ];
    const first = await ask(scene, way, { input: 'Go', tools }, true);
    expect(typesOf(first).toSorted()).toEqual([
      'function_call',
      'mcp_approval_request',
      'mcp_call',
      'mcp_list_tools',
    ]);
    const input = [
      { type: 'function_call_output', call_id: 'call_c', output: 'fog' },
      allow(questionsIn(first)[0]),
    ];
    await ask(scene, way, { input, tools, previous_response_id: first.id }, true);
    const lines = reported(scene.upstream.requests[1]).map((line) => line.split(' ')[0]);
    // The calls of one turn, then all results: no upstream takes it otherwise.
    expect(lines.slice(1)).toEqual(['call', 'call', 'call', 'result', 'result', 'result']);
  });

  test('an image that an allowed call brings is shown to the model', async () => {
    scene.upstream.script(
      says(way, [{ call: 'sums__picture', id: 'call_a', args: {} }]),
      says(way, [{ text: 'Seen.' }]),
    );
    const tools = [asking(scene.mcp.url)];
    const first = await ask(scene, way, { input: 'Look', tools }, false);
    const input = [allow(questionsIn(first)[0])];
    await ask(scene, way, { input, tools, previous_response_id: first.id }, false);
    expect(scene.upstream.requests[1]?.text).toContain(PNG);
  });
});

test('clients whose protocol has no approvals get an error', async () => {
  const body = {
    model: 'sim/chat',
    messages: [{ role: 'user', content: SUM }],
    tools: [{ type: 'mcp', server_label: 'sums', server_url: scene.mcp.url }],
  };
  const refused = await scene.gateway.post('/chat/completions', body);
  expect(refused.status).toBe(400);
  expect(at(await refused.json(), 'error', 'param')).toBe('tools[0].require_approval');
});

test('another process answers an approval after a restart', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-approval-'));
  const mcp = startMcpServer({ tools: MCP_TOOLS });
  const config = { fetch: { allow: [new URL(mcp.url).host] } };
  const tools = [asking(mcp.url, { authorization: 'once-only-secret' })];
  let first: Answered;
  {
    const before = await startToolScene({ dataDir, config });
    first = await ask(before, 'chat', { model: 'sim/messages', tools, input: SUM }, true);
    await before.gateway.stop();
    await before.upstream.stop();
  }
  {
    await using after = await startToolScene({ dataDir, config });
    const input = [allow(questionsIn(first)[0])];
    const second = await ask(
      after,
      'chat',
      { model: 'sim/messages', tools, input, previous_response_id: first.id },
      true,
    );
    expect(typesOf(second)).toEqual(['mcp_call', 'message']);
    expect(at(second.body, 'output', 0, 'output')).toBe('the sum is 3');
    expect(mcp.requests.at(-1)?.headers.get('authorization')).toBe('Bearer once-only-secret');
  }
  await mcp.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

test.skipIf(process.platform !== 'linux')(
  'an approval survives a process that is killed without warning',
  async () => {
    const { folder, remove } = freshFolder();
    const mcp = startMcpServer({ tools: MCP_TOOLS });
    const config = join(folder, 'dragoman.yaml');
    const tools = { mcp: { servers: { sums: { url: mcp.url } } } };
    await Bun.write(config, JSON.stringify({ server: NO_OVERLOAD, tools }));
    const environment = { DRAGOMAN_KEY: 'sk-test' };
    const serve = (): Promise<Program> =>
      startProgram(['serve', '--port', '0', '--data-dir', `${folder}/data`, '--config', config], {
        folder,
        environment,
      });
    const post = async (program: Program, body: object): Promise<Answered> =>
      answered(
        await fetch(`${program.origin}/v1/responses`, {
          method: 'POST',
          headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
          body: JSON.stringify({
            model: 'sim/chat',
            tools: [{ type: 'mcp', server_label: 'sums' }],
            ...body,
          }),
        }),
      );
    const killed = await serve();
    const first = await post(killed, { input: SUM });
    process.kill(runtimePid(killed.pid), 'SIGKILL');
    await killed.exited;
    const program = await serve();
    const second = await post(program, {
      input: [allow(questionsIn(first)[0])],
      previous_response_id: first.id,
    });
    expect(typesOf(second)).toEqual(['mcp_call', 'message']);
    process.kill(runtimePid(program.pid), 'SIGKILL');
    await program.exited;
    await mcp.stop();
    remove();
  },
);
