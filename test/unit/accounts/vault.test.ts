// The vault: what it keeps, who can read it, and where lost reasoning goes back.
import { expect, test } from 'bun:test';
import { OWN_PATH } from '../../../src/canonical/index.ts';
import type { Item, MessageItem, ReasoningItem, ToolCallItem } from '../../../src/canonical/index.ts';
import { pickForVault, Vault } from '../../../src/engine/state/vault.ts';
import type { SealedTurn, VaultStore } from '../../../src/accounts/ports/index.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';

const KEY = new Uint8Array(32).fill(7);
let now = 1_000;

function reasoning(text: string, signature = `sig-${text}`): ReasoningItem {
  return {
    type: 'reasoning',
    text: [text],
    summary: [],
    opaque: { format: 'anthropic-claude-v1', kind: 'signature', data: signature },
    format: 'anthropic-claude-v1',
  };
}
function plain(text: string, format?: string): ReasoningItem {
  return { type: 'reasoning', text: [text], summary: [], ...(format ? { format } : {}) };
}
function says(text: string): MessageItem {
  return { type: 'message', role: 'assistant', parts: [{ type: 'text', text }] };
}
function user(text: string): MessageItem {
  return { type: 'message', role: 'user', parts: [{ type: 'text', text }] };
}
function call(callId: string, args = '{"city":"Paris"}'): ToolCallItem {
  return { type: 'tool_call', kind: 'function', callId, name: 'weather', arguments: args };
}
function result(callId: string): Item {
  return { type: 'tool_result', kind: 'function', callId, parts: [{ type: 'text', text: '12 C' }] };
}

async function vaultWith(...turns: (readonly Item[])[]): Promise<{ vault: Vault; store: VaultStore }> {
  now = 1_000;
  const { vault: store } = await openSqliteStorage({ path: ':memory:' });
  const vault = new Vault(store, KEY, { ttlMs: 500, now: () => now });
  for (const turn of turns) await vault.remember('key_a', turn);
  return { vault, store };
}
/** The conversation in short: `r:` reasoning with its signature, `m:` text, `c:` call, `-` anything else. */
function short(items: readonly Item[]): string {
  return items
    .map((item) => {
      if (item.type === 'reasoning') return `r:${item.opaque?.data ?? item.text.join('')}`;
      if (item.type === 'message')
        return `${item.role === 'assistant' ? 'm' : 'u'}:${item.parts.map((part) => (part.type === 'text' ? part.text : '?')).join('+')}`;
      if (item.type === 'tool_call') return `c:${item.callId}`;
      return item.type === 'tool_result' ? '-' : item.type;
    })
    .join(' ');
}

test('only turns with a call and signed or owned reasoning are stored', () => {
  expect(pickForVault([reasoning('a'), call('1')])).toBe(true);
  expect(pickForVault([plain('a', 'deepseek'), call('1')])).toBe(true);
  expect(pickForVault([plain('a'), call('1')])).toBe(false);
  expect(pickForVault([reasoning('a'), says('hi')])).toBe(false);
  expect(pickForVault([call('1')])).toBe(false);
});

test('reasoning that the client lost is restored completely, before the text and the call', async () => {
  const kept: ReasoningItem = {
    ...reasoning('think'),
    id: 'rs_1',
    summary: ['short'],
    source: {
      protocol: 'anthropic-messages',
      raw: { type: 'thinking', thinking: 'think', signature: 'sig-think' },
    },
  };
  const { vault } = await vaultWith([{ ...kept, path: 'output[0]' }, says('Let me look.'), call('call_1')]);
  const sent = [user('weather?'), says('Let me look.'), call('call_1'), result('call_1'), user('and?')];
  const { items, restored } = await vault.restore('key_a', sent);
  expect(short(items)).toBe('u:weather? r:sig-think m:Let me look. c:call_1 - u:and?');
  expect(items[1]).toEqual({ ...kept, path: OWN_PATH });
  expect(restored).toBe(1);
});

test('arguments that the client parsed and wrote again still belong to the call', async () => {
  const { vault } = await vaultWith([
    reasoning('think'),
    call('call_1', '{"a":1,"b":[true,null,{"c":"d","e":2}]}'),
  ]);
  expect(
    (await vault.restore('key_a', [call('call_1', ' { "b": [true, null, {"e": 2.0, "c": "d"}], "a": 1 }')]))
      .restored,
  ).toBe(1);
});

test('a call with the same id and other content is another call', async () => {
  const { vault } = await vaultWith([reasoning('think'), call('call_0')]);
  const other = [call('call_0', '{"city":"Rome"}')];
  expect(await vault.restore('key_a', other)).toEqual({ items: other, restored: 0 });
  const renamed = [{ ...call('call_0'), name: 'news' }];
  expect((await vault.restore('key_a', renamed)).restored).toBe(0);
  const malformed = call('call_9', '{"city": "Par');
  await vault.remember('key_a', [reasoning('cut'), malformed]);
  expect(short((await vault.restore('key_a', [malformed])).items)).toBe('r:sig-cut c:call_9');
});

test('a conversation without losses is returned unchanged', async () => {
  const { vault } = await vaultWith([reasoning('think'), says('Hm.'), call('call_1')]);
  const sent = [user('weather?'), reasoning('think'), says('Hm.'), call('call_1'), result('call_1')];
  const { items, restored } = await vault.restore('key_a', sent);
  expect(items).toBe(sent);
  expect(restored).toBe(0);
});

const INTERLEAVED = [reasoning('one'), says('First. '), reasoning('two'), says('Second.'), call('a')];
/** The same turn as a client without reasoning sends it back, with a second call and the results. */
const MERGED = [says('First. Second.'), call('a'), call('b'), result('a'), result('b')];

test('interleaved thinking is restored between the texts, which are split at their original places', async () => {
  const { vault } = await vaultWith([...INTERLEAVED, call('b')]);
  const order = 'r:sig-one m:First.  r:sig-two m:Second. c:a c:b - -';
  const merged = await vault.restore('key_a', MERGED);
  expect(short(merged.items)).toBe(order);
  expect(merged.restored).toBe(2);
  // The client kept the reasoning, but Chat Completions has no order between it and the text.
  const reordered = await vault.restore('key_a', [reasoning('one'), reasoning('two'), ...MERGED]);
  expect(short(reordered.items)).toBe(order);
  expect(reordered.restored).toBe(0);
  const half = await vault.restore('key_a', [reasoning('two'), ...MERGED]);
  expect(short(half.items)).toBe(order);
  expect(half.restored).toBe(1);
});

test('a divided message keeps its other members, and a cache breakpoint stays at the end', async () => {
  const { vault } = await vaultWith(INTERLEAVED);
  const message: MessageItem = {
    type: 'message',
    role: 'assistant',
    path: 'messages[1]',
    source: { protocol: 'openai-chat', raw: { content: 'First. Second.' } },
    parts: [
      { type: 'text', text: 'First. Second.', cache: { type: 'ephemeral' }, path: 'messages[1].content' },
    ],
  };
  const { items } = await vault.restore('key_a', [message, call('a')]);
  expect(items[1]).toEqual({
    type: 'message',
    role: 'assistant',
    path: 'messages[1]',
    parts: [{ type: 'text', text: 'First. ', path: 'messages[1].content' }],
  });
  expect(items[3]).toEqual({
    type: 'message',
    role: 'assistant',
    path: 'messages[1]',
    parts: [{ type: 'text', text: 'Second.', cache: { type: 'ephemeral' }, path: 'messages[1].content' }],
  });
});

test('a text that the client changed stays in one part, after the first reasoning', async () => {
  const { vault } = await vaultWith(INTERLEAVED);
  expect(short((await vault.restore('key_a', [says('First. Zweitens.'), call('a')])).items)).toBe(
    'r:sig-one m:First. Zweitens. r:sig-two c:a',
  );
  expect(short((await vault.restore('key_a', [call('a')])).items)).toBe('r:sig-one r:sig-two c:a');
});

test('copies without a signature are replaced by the signed ones', async () => {
  const { vault } = await vaultWith([reasoning('one'), reasoning('two'), call('a')]);
  for (const copy of [plain('one'), plain('one\ntwo'), plain('onetwo'), plain('')]) {
    expect(short((await vault.restore('key_a', [copy, call('a')])).items)).toBe('r:sig-one r:sig-two c:a');
  }
  const tampered: ReasoningItem = { ...reasoning('one', 'forged'), id: 'rs_1' };
  const { vault: withIds } = await vaultWith([{ ...reasoning('one'), id: 'rs_1' }, call('a')]);
  expect(short((await withIds.restore('key_a', [tampered, call('a')])).items)).toBe('r:sig-one c:a');
});

test('reasoning that differs from the record stays', async () => {
  const { vault } = await vaultWith([reasoning('one'), call('a')]);
  expect(short((await vault.restore('key_a', [plain('my own notes'), call('a')])).items)).toBe(
    'r:my own notes r:sig-one c:a',
  );
  expect(short((await vault.restore('key_a', [reasoning('other'), call('a')])).items)).toBe(
    'r:sig-other r:sig-one c:a',
  );
});

test('unsigned reasoning with an owner is returned to it', async () => {
  const { vault } = await vaultWith([plain('hmm', 'deepseek-v1'), call('a')]);
  const { items, restored } = await vault.restore('key_a', [call('a')]);
  expect(items[0]).toEqual({ ...plain('hmm', 'deepseek-v1'), path: OWN_PATH });
  expect(restored).toBe(1);
  // The words came back, but not whose they are.
  expect((await vault.restore('key_a', [plain('hmm'), call('a')])).items[0]).toEqual({
    ...plain('hmm', 'deepseek-v1'),
    path: OWN_PATH,
  });
});

test('in a turn that the client edited, reasoning is restored to matching calls, and the rest is unchanged', async () => {
  const { vault } = await vaultWith([reasoning('one'), call('a'), reasoning('two'), call('b')]);
  expect(short((await vault.restore('key_a', [call('new'), call('a')])).items)).toBe('c:new r:sig-one c:a');
  expect(short((await vault.restore('key_a', [call('a'), call('new')])).items)).toBe('r:sig-one c:a c:new');
  expect(short((await vault.restore('key_a', [call('b')])).items)).toBe('r:sig-one r:sig-two c:b');
  expect(short((await vault.restore('key_a', [call('b'), call('a')])).items)).toBe(
    'r:sig-one c:a r:sig-two c:b',
  );
});

test('results between parallel calls do not give a turn its reasoning twice', async () => {
  const { vault } = await vaultWith([reasoning('one'), call('a'), call('b')]);
  const { items, restored } = await vault.restore('key_a', [call('a'), result('a'), call('b'), result('b')]);
  expect(short(items)).toBe('r:sig-one c:a - c:b -');
  expect(restored).toBe(1);
});

test('several turns of one conversation, adjacent or apart, each get their own reasoning', async () => {
  const { vault } = await vaultWith(
    [reasoning('one'), says('1'), call('a')],
    [reasoning('two'), call('b')],
    [reasoning('three'), call('c')],
  );
  const { items, restored } = await vault.restore('key_a', [
    user('go'),
    says('1'),
    call('a'),
    result('a'),
    call('b'),
    call('c'),
    result('b'),
    result('c'),
    call('unknown'),
    result('unknown'),
  ]);
  expect(short(items)).toBe('u:go r:sig-one m:1 c:a - r:sig-two c:b r:sig-three c:c - - c:unknown -');
  expect(restored).toBe(3);
});

test('reasoning and text after the last call stay after it', async () => {
  const { vault } = await vaultWith([reasoning('one'), call('a'), reasoning('two'), says('Done.')]);
  expect(short((await vault.restore('key_a', [call('a'), says('Done.')])).items)).toBe(
    'r:sig-one c:a r:sig-two m:Done.',
  );
  expect(short((await vault.restore('key_a', [call('a'), says('Edited.')])).items)).toBe(
    'r:sig-one c:a m:Edited. r:sig-two',
  );
});

test('hosted calls and unknown items of the client survive', async () => {
  const { vault } = await vaultWith([reasoning('one'), call('a')]);
  const hosted: Item = {
    type: 'hosted_call',
    kind: 'web_search_call',
    source: { protocol: 'openai-responses', raw: {} },
  };
  expect(short((await vault.restore('key_a', [hosted, call('a'), hosted])).items)).toBe(
    'hosted_call r:sig-one c:a hosted_call',
  );
});

test("another tenant's turns do not exist", async () => {
  const { vault } = await vaultWith([reasoning('one'), call('a')]);
  expect((await vault.restore('key_b', [call('a')])).restored).toBe(0);
});

test('a record that is moved to another tenant or call cannot be opened', async () => {
  const { vault, store } = await vaultWith([reasoning('one'), call('a')], [reasoning('two'), call('b')]);
  const rows = new Map<string, Uint8Array>();
  const spy: VaultStore = {
    ...store,
    put: async (turns) => turns.forEach((turn) => rows.set(turn.callId, turn.sealed)),
  };
  const writer = new Vault(spy, KEY, { ttlMs: 500, now: () => now });
  await writer.remember('key_a', [reasoning('one'), call('a')]);
  await writer.remember('key_a', [reasoning('two'), call('b')]);
  const [idA, idB] = [...rows.keys()] as [string, string];
  await store.put([{ projectId: 'key_b', callId: idA, sealed: rows.get(idA)!, expiresAt: 9_999 }]);
  expect((await vault.restore('key_b', [call('a')])).restored).toBe(0);
  await store.put([{ projectId: 'key_a', callId: idA, sealed: rows.get(idB)!, expiresAt: 9_999 }]);
  expect((await vault.restore('key_a', [call('a')])).restored).toBe(0);
  expect((await vault.restore('key_a', [call('b')])).restored).toBe(1);
});

test('stored turns are unreadable, equal turns differ, and any changed bit is detected', async () => {
  const { store } = await vaultWith();
  const written: SealedTurn[] = [];
  const stubborn: VaultStore = {
    ...store,
    put: async (turns) => void written.push(...turns),
    get: async (_keyId, callIds) =>
      new Map(
        written.filter((turn) => callIds.includes(turn.callId)).map((turn) => [turn.callId, turn.sealed]),
      ),
  };
  const vault = new Vault(stubborn, KEY, { ttlMs: 500, now: () => now });
  const turn = [reasoning('very secret thought'), says('visible answer'), call('a')];
  await vault.remember('key_a', turn);
  await vault.remember('key_a', turn);
  expect(written[0]?.expiresAt).toBe(1_500);
  expect(written[0]?.sealed).not.toEqual(written[1]?.sealed as Uint8Array);
  const sealed = written[1]?.sealed ?? new Uint8Array();
  for (const word of ['secret', 'visible', 'weather', 'Paris', 'sig-'])
    expect(Buffer.from(sealed).includes(word)).toBe(false);
  expect((await vault.restore('key_a', [call('a')])).restored).toBe(1);

  const otherServer = new Vault(stubborn, new Uint8Array(32).fill(8), { ttlMs: 500, now: () => now });
  expect((await otherServer.restore('key_a', [call('a')])).restored).toBe(0);
  for (const at of [0, 1, 12, 13, 40, sealed.length - 16, sealed.length - 1]) {
    sealed[at]! ^= 1;
    expect((await vault.restore('key_a', [call('a')])).restored).toBe(0);
    sealed[at]! ^= 1;
  }
  written[1] = { ...written[1]!, sealed: sealed.subarray(0, 20) };
  expect((await vault.restore('key_a', [call('a')])).restored).toBe(0);
});

test('an expired turn is forgotten', async () => {
  const { vault, store } = await vaultWith([reasoning('one'), call('a')]);
  now = 1_499;
  expect((await vault.restore('key_a', [call('a')])).restored).toBe(1);
  now = 1_500;
  expect((await vault.restore('key_a', [call('a')])).restored).toBe(0);
  expect(await store.purge(now)).toBe(1);
});

test('one lookup serves a whole conversation, and a turn not worth keeping is not written', async () => {
  let lookups = 0;
  let writes = 0;
  const store: VaultStore = {
    put: async (turns) => void (writes += turns.length),
    get: async () => ((lookups += 1), new Map()),
    list: async () => new Map(),
    purge: async () => 0,
  };
  const vault = new Vault(store, KEY, { ttlMs: 500, now: () => now });
  const long = Array.from({ length: 3_000 }, (_, i) => [call(`c${i}`), result(`c${i}`)]).flat();
  expect((await vault.restore('key_a', long)).items).toBe(long);
  await vault.restore('key_a', [user('hi'), says('ho')]);
  expect(lookups).toBe(1);
  await vault.remember('key_a', [says('hi'), call('a')]);
  await vault.remember('key_a', [reasoning('x'.repeat(5 << 20)), call('a')]);
  expect(writes).toBe(0);
  await vault.remember('key_a', [reasoning('x'), call('a'), call('b')]);
  expect(writes).toBe(2);
});
