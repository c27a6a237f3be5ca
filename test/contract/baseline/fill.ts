// Fills an installation with some of everything that is stored, as clients and admins do, over three days. Says what can be asked
// of it afterwards.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import { type ManagedGateway, startManaged } from '../../support/management/scene.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventually } from '../../support/program.ts';
import { answerOf, type Ask, CONFIG, FILE_KEY } from './asks.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Longer than what a process does between two looks at its work. */
const SECOND = 1_000;
const TICK_MS = 20;

/** Keys and requests that clients and admins remember. */
export interface Filled {
  readonly key: string;
  readonly asks: readonly Omit<Ask, 'status'>[];
}

const WEATHER = {
  type: 'function' as const,
  function: {
    name: 'weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const user = (content: string) => ({ role: 'user' as const, content });

/** Fills it by a process whose clock ends now. @param place `database_url`, or nothing */
export async function fillDays(dataDir: string, place: object): Promise<Filled> {
  const clock = new ManualClock(Date.now() - 2 * DAY - HOUR);
  const gateway = await startManaged({ ...CONFIG, ...place }, { clock, dataDir });
  // Waits between tries are short; between requests, days pass.
  const ticking = setInterval(() => clock.advance(TICK_MS), TICK_MS);
  const manage = async (path: string, body: unknown, headers = {}) => {
    const made = await gateway.manage('POST', path, body, headers);
    if (made.status >= 300) throw new Error(`${path}: ${JSON.stringify(made.body)}`);
    return made.body;
  };
  await manage('/projects', { name: 'search', budgets: [{ usd: 100, per: 'month' }] });
  const old = await manage('/projects', { name: 'old' });
  const member = {
    name: 'worker',
    project: 'search',
    budgets: [{ usd: 20, per: 'month' }],
    limits: [{ requests: 1000, per: 'minute' }],
  };
  const once = { 'idempotency-key': 'baseline-1' };
  const made = await manage('/keys', member);
  const key = String(made['key']);
  const revoked = await manage('/keys', { name: 'revoked', models: ['acme/*'] });
  const rotated = await manage('/keys', {
    name: 'rotated',
    roles: ['models', 'admin'],
    on_disconnect: 'abort',
  });
  await manage(`/keys/${rotated['id']}/rotate`, {});
  await gateway.manage('DELETE', `/keys/${revoked['id']}`);
  await manage(`/projects/${old['id']}/archive`, {});

  const openai = new OpenAI({ apiKey: key, baseURL: gateway.baseURL, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: key, baseURL: gateway.origin, maxRetries: 0 });
  for (const end of ['ann', 'bob']) await requests(gateway, openai, anthropic, key, end);
  clock.advance(DAY);
  await requests(gateway, openai, anthropic, key, 'ann');
  clock.advance(DAY);

  const first = await openai.responses.create({ model: 'acme/small', input: 'one' });
  const second = await openai.responses.create({
    model: 'acme/small',
    input: 'two',
    previous_response_id: first.id,
    metadata: { topic: 'demo' },
  });
  const gone = await openai.responses.create({ model: 'acme/small', input: 'three' });
  await openai.responses.delete(gone.id);
  const conversation = await openai.conversations.create({
    metadata: { topic: 'tea' },
    items: [{ role: 'developer', content: 'Answer briefly.' }],
  });
  await openai.responses.create({ model: 'sim/chat', input: 'Hello', conversation: conversation.id });
  const prompt = (await openai.post('/prompts', {
    body: { name: 'Support', template: { model: 'sim/chat', input: 'Help {{customer}}.' } },
  })) as { readonly id: string };
  await openai.post(`/prompts/${prompt.id}/versions`, {
    body: { default: true, template: { model: 'sim/chat', input: 'Help {{customer}} kindly.' } },
  });
  const file = await openai.files.create({
    file: await toFile(Buffer.from('some words '.repeat(2_000)), 'notes.txt'),
    purpose: 'user_data',
  });
  const thread = await anthropic.post('/v1/messages', {
    body: { model: 'sim/chat', max_tokens: 100, messages: [user('Hello')], thread: { type: 'create' } },
  });
  const called = await openai.chat.completions.create({
    model: 'sim/gemini',
    reasoning_effort: 'high',
    messages: [user('What is the weather in Paris?')],
    tools: [WEATHER],
  });
  const call = called.choices[0]?.message.tool_calls?.[0];
  if (!call) throw new Error('no tool was called');
  for (let minute = 0; minute < 60; minute++) clock.advance(60 * SECOND);
  const idempotent = await manage('/keys', { name: 'once' }, once);
  await eventually('an alert is in the history', async () => {
    clock.advance(SECOND);
    const { body } = await gateway.manage('GET', '/alerts');
    return (body['data'] as readonly unknown[]).length > 0;
  });
  const { body: listed } = await gateway.manage('GET', '/generations?limit=100');
  const ids = (listed['data'] as readonly { readonly id: string }[]).map(({ id }) => id);
  await gateway.stop();
  clearInterval(ticking);
  const asOf = encodeURIComponent(new Date(clock.wall() + HOUR).toISOString());
  const since = encodeURIComponent(new Date(clock.wall() - 4 * DAY).toISOString());
  const span = `from=${since}&to=${asOf}`;
  return {
    key,
    asks: [
      ...[
        '/projects',
        '/keys?limit=100',
        '/audit?limit=100',
        '/alerts',
        '/jobs?state=completed',
        '/jobs?state=failed',
        '/jobs?state=cancelled',
        `/usage?group_by=key,model,project&interval=hour&${span}`,
        `/usage?group_by=provider&interval=day&${span}`,
        `/usage/end-users?${span}`,
        '/generations?limit=100',
        ...ids.flatMap((id) => [`/generations/${id}`, `/generations/${id}/payloads`]),
      ].map((path) => ({ path: `/v1/management${path}` })),
      ...[
        `/responses/${first.id}`,
        `/responses/${second.id}`,
        `/responses/${second.id}/input_items`,
        `/conversations/${conversation.id}`,
        `/conversations/${conversation.id}/items`,
        '/prompts',
        `/prompts/${prompt.id}`,
        `/prompts/${prompt.id}?version=1`,
        '/files',
        `/files/${file.id}`,
        `/files/${file.id}/content`,
        `/responses/${gone.id}`,
      ].map((path) => ({ key, path: `/v1${path}` })),
      { path: '/v1/management/keys', body: { name: 'once' }, headers: once, answer: idempotent },
      {
        key,
        path: '/v1/responses',
        body: { model: 'acme/small', input: 'and now?', previous_response_id: second.id },
      },
      {
        key,
        path: '/v1/responses',
        body: { model: 'acme/small', input: 'more', conversation: conversation.id },
      },
      {
        key,
        path: '/v1/responses',
        body: { prompt: { id: prompt.id, variables: { customer: 'Ann' } } },
      },
      {
        key,
        path: '/v1/messages',
        body: {
          model: 'sim/chat',
          max_tokens: 100,
          messages: [user('Say that again.')],
          thread: { type: 'continue', previous_message_id: (thread as { readonly id: string }).id },
        },
      },
      {
        // Nothing is lost (else it would be refused): only the gateway has the signature of the call.
        key,
        headers: { 'x-dragoman-strict': 'true' },
        path: '/v1/chat/completions',
        body: {
          model: 'sim/gemini',
          reasoning_effort: 'high',
          tools: [WEATHER],
          messages: [
            user('What is the weather in Paris?'),
            { role: 'assistant', content: null, tool_calls: [call] },
            { role: 'tool', tool_call_id: call.id, content: '12 C' },
          ],
        },
      },
    ],
  };
}

/** One request of each protocol and of each end. */
async function requests(
  gateway: ManagedGateway,
  openai: OpenAI,
  anthropic: Anthropic,
  key: string,
  endUser: string,
): Promise<void> {
  await openai.chat.completions.create({ model: 'acme/small', user: endUser, messages: [user('Hello')] });
  await openai.chat.completions.create({ model: 'acme/recovers', user: endUser, messages: [user('6 x 7')] });
  const stream = anthropic.messages.stream({ model: 'sim/messages', max_tokens: 99, messages: [user('hi')] });
  await stream.finalMessage();
  await openai.embeddings.create({ model: 'sim/embed', input: ['one', 'two'] });
  const ends: [string, string, object][] = [
    [key, '/v1/chat/completions', { model: 'acme/refused', messages: [user('Hello')] }],
    [key, '/v1/chat/completions', { model: 'acme/small', temperature: 'hot', messages: [user('Hello')] }],
    [key, '/v1/chat/completions', { model: 'sim/cut-after-9', stream: true, messages: [user('A story')] }],
    [key, '/v1beta/models/sim/gemini:generateContent', { contents: [{ parts: [{ text: 'Hello' }] }] }],
    [FILE_KEY, '/v1/responses', { model: 'sim/chat', input: 'Hello' }],
    [FILE_KEY, '/v1/responses', { model: 'sim/chat', input: 'Hello' }],
  ];
  for (const [as, path, body] of ends) await answerOf(gateway.origin, { key: as, path, body });
}
