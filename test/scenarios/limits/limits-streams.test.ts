// A budget that is used up in the middle of an answer: the upstream is stopped, and the client reads why in its own
// protocol, whatever the upstream speaks.
import { afterAll, describe, expect, test } from 'bun:test';
import { CLIENTS, type ClientProtocol } from '../../support/upstreams/client-dialects.ts';
import { dialect, UPSTREAM_PROTOCOLS, type UpstreamProtocol } from '../../support/upstreams/dialects.ts';
import { recordOf, startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, type Json } from '../../support/upstreams/json-path.ts';

const CLIENT_PROTOCOLS = Object.keys(CLIENTS) as ClientProtocol[];
const PAIRS = CLIENT_PROTOCOLS.flatMap((client) =>
  UPSTREAM_PROTOCOLS.map((upstream) => ({ client, upstream })),
);
/** 100 tokens by estimate, at 4 dollars for a million: 0.0004 dollars. */
const PIECE = 'word '.repeat(80);
const PIECE_USD = 0.0004;
const BUDGET_USD = 0.0021;
/** Pieces after which an answer that nobody stops is given up. */
const MOST_PIECES = 20;

const keys = [...PAIRS.map(nameOf), 'finish'].map((name) => ({
  name,
  key: `sk-test-${name}`,
  budgets: [{ usd: BUDGET_USD, per: 'day', ...(name === 'finish' ? { when_spent: 'finish' } : {}) }],
}));
const scene = await startScene(['one'], { config: { keys }, faithful: true });
afterAll(() => scene[Symbol.asyncDispose]());

function nameOf({ client, upstream }: (typeof PAIRS)[number]): string {
  return `${client}-${upstream}`;
}

function ask(
  key: string,
  client: ClientProtocol,
  upstream: UpstreamProtocol,
  stream: boolean,
): Promise<Response> {
  const { path, ask: bodyOf } = CLIENTS[client];
  const model = `one/${upstream.split('-').at(-1)}`;
  const base = '/v1';
  return fetch(scene.gateway.origin + base + path(model, stream), {
    method: 'POST',
    headers: { authorization: `Bearer sk-test-${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(bodyOf(model, stream)),
  });
}

/** Reads a stream to its end; each time something comes, the upstream says more. @returns its text, and pieces sent */
async function readOn(response: Response, more: () => void): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    more();
  }
  return text;
}

async function streamed(
  key: string,
  { client, upstream }: (typeof PAIRS)[number],
): Promise<{ text: string; pieces: number; record: Json }> {
  const { opening, piece, ending, endMark } = dialect(upstream, 'a');
  let pieces = 0;
  const one = scene.upstream('one');
  const more = (): void => {
    const exchange = one.exchanges[0];
    if (pieces < MOST_PIECES) exchange?.chunk(piece(PIECE));
    else if (pieces === MOST_PIECES) {
      exchange?.chunk(ending(PIECE.repeat(MOST_PIECES)) + endMark);
      exchange?.endStream();
    }
    pieces += 1;
  };
  one.script((exchange) => {
    exchange.openStream();
    exchange.chunk(opening);
    more();
  });
  const response = await ask(key, client, upstream, true);
  const text = await readOn(response, more);
  return { text, pieces, record: await recordOf({ ...scene.gateway, get: asKey(key) }, response) };
}

/** Reads as this key: another's records are nobody's. */
function asKey(key: string): (path: string) => Promise<Response> {
  return (path) =>
    fetch(scene.gateway.baseURL + path, { headers: { authorization: `Bearer sk-test-${key}` } });
}

describe('a stream that uses up a budget', () => {
  test.each(PAIRS)(
    '$client from $upstream ends with a native error, and the next request is a 402',
    async (pair) => {
      const key = nameOf(pair);
      const { text, pieces, record } = await streamed(key, pair);
      const received = CLIENTS[pair.client].receive(true, text);
      expect(received.complete).toBe(false);
      expect(received.starts).toBe(1);
      expect(received.error).toContain(`$0.0021 per day (the limit of key "${key}") is reached`);
      expect(pieces).toBeLessThan(10);
      // Stopped with the piece that crossed it.
      const spent = Number(at(record, 'usage'));
      expect(spent).toBeGreaterThan(BUDGET_USD - PIECE_USD);
      expect(spent).toBeLessThan(BUDGET_USD + 2 * PIECE_USD);
      expect(at(record, 'error', 'kind')).toBe('quota');
      await scene.upstream('one').exchanges[0]?.closed;
      const next = await ask(key, pair.client, pair.upstream, true);
      expect(next.status).toBe(pair.client === 'gemini' ? 429 : 402);
      expect(Number(next.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await next.text()).toMatch(/Capacity is available at \d{4}-\d\d-\d\dT00:00:00\.000Z/);
    },
  );

  test('completes if the budget is configured so, and the next request is refused', async () => {
    const pair = { client: 'openai-chat', upstream: 'openai-chat' } as const;
    const { text, pieces } = await streamed('finish', pair);
    expect(CLIENTS['openai-chat'].receive(true, text).complete).toBe(true);
    expect(pieces).toBeGreaterThan(MOST_PIECES);
    expect((await ask('finish', pair.client, pair.upstream, false)).status).toBe(402);
  });
});
