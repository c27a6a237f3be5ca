// Conversations through the official SDK and plain HTTP: life, items, pages, and what another key sees of them.
import { afterAll, describe, expect, test } from 'bun:test';
import { NotFoundError } from 'openai';
import { rejection } from '../../support/rejection.ts';
import { errorOf, startStateful } from '../../support/storage/state-seed.ts';

const stateful = await startStateful();
afterAll(() => stateful.close());

const say = (text: string): { role: 'user'; content: string } => ({ role: 'user', content: text });

describe('a conversation', () => {
  test('is made, read, changed and deleted', async () => {
    const { client } = stateful;
    const made = await client.conversations.create({ metadata: { topic: 'tea' }, items: [say('Hello')] });
    expect(made.id).toMatch(/^conv_[0-9a-f]{24}$/);
    expect(made).toEqual({
      id: made.id,
      object: 'conversation',
      created_at: made.created_at,
      metadata: { topic: 'tea' },
    });
    expect(Math.abs(made.created_at - Date.now() / 1000)).toBeLessThan(60);
    expect(await client.conversations.retrieve(made.id)).toEqual(made);
    const changed = await client.conversations.update(made.id, { metadata: { topic: 'coffee' } });
    expect(changed).toEqual({ ...made, metadata: { topic: 'coffee' } });
    expect(await client.conversations.retrieve(made.id)).toEqual(changed);
    expect(await client.conversations.update(made.id, { metadata: null })).toEqual({ ...made, metadata: {} });
    expect(await client.conversations.delete(made.id)).toEqual({
      id: made.id,
      object: 'conversation.deleted',
      deleted: true,
    });
    expect(await rejection(client.conversations.retrieve(made.id))).toBeInstanceOf(NotFoundError);
    expect(await rejection(client.conversations.items.list(made.id))).toBeInstanceOf(NotFoundError);
  });

  test('needs no body to be made', async () => {
    const { client, call } = stateful;
    expect((await client.conversations.create()).metadata).toEqual({});
    expect((await call('POST', '/conversations')).status).toBe(200);
  });

  test('is not found with another key', async () => {
    const { client, stranger } = stateful;
    const { id } = await client.conversations.create({ items: [say('secret')] });
    const [item] = (await client.conversations.items.list(id)).data;
    const itemId = item?.id ?? '';
    const of = { conversation_id: id };
    for (const attempt of [
      () => stranger.conversations.retrieve(id),
      () => stranger.conversations.update(id, { metadata: {} }),
      () => stranger.conversations.delete(id),
      () => stranger.conversations.items.list(id),
      () => stranger.conversations.items.create(id, { items: [say('x')] }),
      () => stranger.conversations.items.retrieve(itemId, of),
      () => stranger.conversations.items.delete(itemId, of),
    ])
      expect(await rejection(attempt())).toBeInstanceOf(NotFoundError);
    expect((await client.conversations.items.list(id)).data).toHaveLength(1);
  });
});

describe('items', () => {
  test('are returned complete: with an id by their type, a status and parts', async () => {
    const { client } = stateful;
    const { id } = await client.conversations.create();
    const added = await client.conversations.items.create(id, {
      items: [
        say('What is the weather?'),
        { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
        { role: 'assistant', content: 'It is sunny.' },
        { type: 'reasoning', id: 'rs_0123456789abcdef', summary: [], encrypted_content: 'sealed' },
      ],
    });
    expect(added).toMatchObject({ object: 'list', has_more: false });
    expect(added.first_id).toBe(added.data[0]?.id ?? '');
    expect(added.last_id).toBe('rs_0123456789abcdef');
    const [question, made, result, answer, thought] = added.data;
    expect(question).toEqual({
      id: expect.stringMatching(/^msg_/) as unknown as string,
      type: 'message',
      role: 'user',
      status: 'completed',
      content: [{ type: 'input_text', text: 'What is the weather?' }],
    });
    expect(made).toMatchObject({ type: 'function_call', status: 'completed' });
    expect(made?.id).toStartWith('fc_');
    expect(result).toMatchObject({ type: 'function_call_output', output: 'sunny', status: 'completed' });
    expect(result?.id).toStartWith('fc');
    expect(answer).toMatchObject({
      role: 'assistant',
      content: [{ type: 'output_text', text: 'It is sunny.', annotations: [] }],
    });
    expect(thought).toEqual({ type: 'reasoning', id: 'rs_0123456789abcdef', summary: [] });

    const of = { conversation_id: id };
    const include: 'reasoning.encrypted_content'[] = ['reasoning.encrypted_content'];
    expect(
      await client.conversations.items.retrieve('rs_0123456789abcdef', { ...of, include }),
    ).toMatchObject({ encrypted_content: 'sealed' });
    expect(await client.conversations.items.retrieve(question?.id ?? '', of)).toEqual(question as never);
    const listed = await client.conversations.items.list(id, { order: 'asc' });
    expect(listed.data).toEqual(added.data);

    const left = await client.conversations.items.delete(question?.id ?? '', of);
    expect(left).toMatchObject({ id, object: 'conversation' });
    expect(await rejection(client.conversations.items.retrieve(question?.id ?? '', of))).toBeInstanceOf(
      NotFoundError,
    );
    expect((await client.conversations.items.list(id)).data).toHaveLength(4);
  });

  test('contain every member that clients may omit', async () => {
    const { client } = stateful;
    const { id } = await client.conversations.create();
    const { data } = await client.conversations.items.create(id, {
      items: [
        { role: 'user', content: [{ type: 'input_image', image_url: 'https://tea.example/a.png' } as never] },
        { role: 'assistant', content: [{ type: 'output_text', text: 'Tea.' } as never] },
        { type: 'shell_call', call_id: 'call_1', action: { commands: ['ls'] } },
        { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
      ],
      include: ['message.input_image.image_url'],
    });
    expect(data.map(({ id: _, ...item }) => item) as unknown).toEqual([
      {
        type: 'message',
        role: 'user',
        status: 'completed',
        content: [{ type: 'input_image', image_url: 'https://tea.example/a.png', detail: 'auto' }],
      },
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Tea.', annotations: [], logprobs: [] }],
      },
      { type: 'shell_call', call_id: 'call_1', status: 'completed', action: { commands: ['ls'] } },
      { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
    ]);
  });

  test('are listed in pages that do not shift while items are added', async () => {
    const { client } = stateful;
    const texts = Array.from({ length: 20 }, (_, at) => `message ${at}`);
    const { id } = await client.conversations.create({ items: texts.map(say) });
    const textOf = (item: unknown): string =>
      (item as { content: { text: string }[] }).content[0]?.text ?? '';
    for (const order of ['asc', 'desc'] as const) {
      let page = await client.conversations.items.list(id, { limit: 6, order });
      const read: string[] = [];
      for (;;) {
        expect(page.data.length).toBeLessThanOrEqual(6);
        read.push(...page.data.map(textOf));
        await client.conversations.items.create(id, { items: [say(`later, ${order} ${read.length}`)] });
        if (!page.hasNextPage()) break;
        page = await page.getNextPage();
      }
      const seen = read.filter((text) => text.startsWith('message'));
      expect(seen).toEqual(order === 'asc' ? texts : texts.toReversed());
      expect(new Set(read).size).toBe(read.length);
      // In ascending order the later ones are behind; in descending order they came before the first page.
      if (order === 'desc') expect(read.filter((text) => text.startsWith('later, desc'))).toEqual([]);
    }
  });

  test('can be references to items that the key has stored', async () => {
    const { client, stranger } = stateful;
    const first = await client.conversations.create({ items: [say('kept once')] });
    const [item] = (await client.conversations.items.list(first.id)).data;
    const reference = { type: 'item_reference' as const, id: item?.id ?? '' };
    const second = await client.conversations.create({ items: [reference] });
    expect((await client.conversations.items.list(second.id)).data).toEqual([item as never]);
    expect(await rejection(stranger.conversations.create({ items: [reference] }))).toBeInstanceOf(
      NotFoundError,
    );
  });
});

describe('errors name the invalid member', () => {
  const many = Array.from({ length: 21 }, () => ({ role: 'user' }));
  const mistakes: readonly (readonly [string, string, unknown, string, number?])[] = [
    ['POST', '/conversations', { items: many }, 'items'],
    ['POST', '/conversations', { items: 'hello' }, 'items'],
    ['POST', '/conversations', { items: ['hello'] }, 'items[0]'],
    ['POST', '/conversations', { items: [say('a'), { role: 'robot', content: 'x' }] }, 'items[1].role'],
    ['POST', '/conversations', { items: [{ type: 'function_call', name: 'f' }] }, 'items[0].call_id'],
    ['POST', '/conversations', { items: [{ type: 'item_reference', id: 'msg_none' }] }, 'items[0].id', 404],
    ['POST', '/conversations', { metadata: { a: 1 } }, 'metadata.a'],
    ['POST', '/conversations', { metadata: 'x' }, 'metadata'],
    ['POST', '/conversations/CONV', {}, 'metadata'],
    ['POST', '/conversations/CONV/items', {}, 'items'],
    ['POST', '/conversations/CONV/items', { items: many }, 'items'],
    ['GET', '/conversations/CONV/items?limit=0', undefined, 'limit'],
    ['GET', '/conversations/CONV/items?limit=101', undefined, 'limit'],
    ['GET', '/conversations/CONV/items?limit=ten', undefined, 'limit'],
    ['GET', '/conversations/CONV/items?order=up', undefined, 'order'],
    ['GET', '/conversations/CONV/items?after=msg_none', undefined, 'after'],
    ['GET', '/conversations/CONV/items?include[]=everything', undefined, 'include'],
  ];
  test.each(mistakes)('%s %s %j', async (method, path, body, param, status = 400) => {
    const { call, client } = stateful;
    const { id } = await client.conversations.create();
    const answer = await call(method, path.replace('CONV', id), body);
    expect(answer.status).toBe(status);
    expect(errorOf(answer.json).param).toBe(param);
    expect(errorOf(answer.json).message).toMatch(
      status === 404 ? /not found/ : /must|is required|at most|not found/,
    );
    expect((await client.conversations.items.list(id)).data).toEqual([]);
  });

  test.each([
    ['not JSON', 'POST', '{', 400],
    ['no object', 'POST', '[]', 400],
  ])('%s', async (_, method, body, status) => {
    expect((await stateful.call(method, '/conversations', body)).status).toBe(status);
  });

  test('a body over the limit, and a missing key', async () => {
    const { gateway } = stateful;
    const big = await gateway.post('/conversations', { metadata: { a: 'x'.repeat(33 * 1_048_576) } });
    expect(big.status).toBe(413);
    const anonymous = await fetch(`${gateway.baseURL}/conversations/conv_x`);
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
  });

  test('a conversation that is over the quota', async () => {
    await using small = await startStateful({ state: { max_mb_per_key: 0.01 } });
    const answer = await small.call('POST', '/conversations', { items: [say('x'.repeat(20_000))] });
    expect(answer.status).toBe(402);
  });
});
