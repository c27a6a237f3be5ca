// Clients that read Open Responses: with raw reasoning shown, every event of a stream has a name that its schema knows, for
// models behind every protocol; clients of OpenAI's libraries read theirs.
import { afterAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { framesOf, type Loose } from '../../support/recordings/loose.ts';
import { fitsOpenly } from '../../support/recordings/openai-schema.ts';
import { DIALECTS, startEveryUpstream } from '../../support/upstreams/every-upstream.ts';

const gateway = await startEveryUpstream();
const open = await startGateway({ compatibility: { open_responses: true } });
afterAll(async () => {
  await gateway.close();
  await open.close();
});

const ask = (on: TestGateway, model: string, headers: Record<string, string> = {}) =>
  on.post(
    '/responses',
    { model, input: 'explain why', reasoning: { effort: 'high' }, stream: true },
    headers,
  );

describe.each([...DIALECTS, 'sim/claude', 'sim/deepseek'])('%s', (model) => {
  test('is read by clients of Open Responses, with reasoning shown', async () => {
    const response = await ask(gateway, model, { 'openresponses-version': 'latest' });
    const frames = framesOf(await response.text());
    expect(frames.flatMap(({ data }) => fitsOpenly(JSON.parse(data) as Loose))).toEqual([]);
    expect(frames.map(({ event }) => event)).not.toContain('response.reasoning_text.delta');
    expect(frames.at(-1)?.event).toBe('response.completed');
  });

  test("is read by OpenAI's library, with the same text", async () => {
    const client = new OpenAI({ apiKey: gateway.key, baseURL: gateway.baseURL });
    let text = '';
    const stream = await client.responses.create({
      model,
      input: 'explain why',
      reasoning: { effort: 'high' },
      stream: true,
    });
    for await (const event of stream) if (event.type === 'response.reasoning_text.delta') text += event.delta;
    const openly = framesOf(await (await ask(gateway, model, { 'openresponses-version': 'latest' })).text());
    const deltas = openly.filter(({ event }) => event === 'response.reasoning.delta');
    expect(deltas.map(({ data }) => String((JSON.parse(data) as Loose)['delta'])).join('')).toBe(text);
  });
});

describe('a kept stream that is replayed', () => {
  const replayed = async (
    on: TestGateway,
    headers: Record<string, string>,
  ): Promise<(string | undefined)[]> => {
    const body = { model: 'sim/deepseek', input: 'explain why', reasoning: { effort: 'high' }, store: true };
    const { id } = (await (await on.post('/responses', body)).json()) as { readonly id: string };
    const response = await fetch(`${on.baseURL}/responses/${id}?stream=true`, {
      headers: { authorization: `Bearer ${on.key}`, ...headers },
    });
    return framesOf(await response.text()).map(({ event }) => event);
  };

  test('uses the event names of its client', async () => {
    expect(await replayed(gateway, {})).toContain('response.reasoning_text.delta');
    const openly = await replayed(gateway, { 'openresponses-version': 'latest' });
    expect(openly).toContain('response.reasoning.delta');
    expect(openly).not.toContain('response.reasoning_text.delta');
  });

  test('uses the event names of the configuration', async () => {
    expect(await replayed(open, {})).toContain('response.reasoning.delta');
  });
});

test('the configuration can set the event names for all clients', async () => {
  const events = framesOf(await (await ask(open, 'sim/deepseek')).text()).map(({ event }) => event);
  expect(events).toContain('response.reasoning.delta');
  expect(events).toContain('response.reasoning.done');
  expect(events).not.toContain('response.reasoning_text.delta');
});
