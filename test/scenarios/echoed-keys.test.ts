// An upstream, or a proxy in front of it, repeats the key that it got. Whatever it puts the key into, and however the
// bytes are cut, the key reaches no client, no store, no record and no log.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENTS, type ClientProtocol } from '../support/upstreams/client-dialects.ts';
import { opened, stream, whole } from '../support/upstreams/answers.ts';
import { dialect, streamOf, UPSTREAM_PROTOCOLS } from '../support/upstreams/dialects.ts';
import {
  startScene,
  StreamReading,
  UPSTREAM_KEY,
  type Scene,
} from '../support/upstreams/gateway-with-upstreams.ts';

const LANES = ['relay', 'translate'] as const;
type Lane = (typeof LANES)[number];
const scenes = new Map<Lane, Scene>();

beforeAll(async () => {
  for (const lane of LANES)
    scenes.set(
      lane,
      await startScene(['up'], {
        faithful: lane === 'relay',
        config: {
          logging: { level: 'debug', content: true },
          models: [
            // The scene's own models reason, and such answers are translated where nobody asks to see it.
            {
              id: 'plain/responses',
              endpoints: [{ provider: 'up', model: 'm', protocol: 'openai-responses' }],
            },
          ],
        },
      }),
    );
});
afterAll(async () => {
  for (const scene of scenes.values()) await scene[Symbol.asyncDispose]();
});

function sceneOf(lane: Lane): Scene {
  const scene = scenes.get(lane);
  if (!scene) throw new Error('not started');
  return scene;
}

function ask(
  lane: Lane,
  protocol: ClientProtocol,
  isStreamed: boolean,
  more: object = {},
): Promise<Response> {
  const { path, ask: bodyOf } = CLIENTS[protocol];
  const model = protocol === 'openai-responses' ? 'plain/responses' : `one/${protocol.split('-').at(-1)}`;
  return sceneOf(lane).gateway.post(path(model, isStreamed), { ...bodyOf(model, isStreamed), ...more });
}

/** The frame of a failure in these words. */
function failing(protocol: ClientProtocol, words: string): string {
  return dialect(protocol, 'm').errorFrame.replace(/"message":"[^"]*"/, () => `"message":"${words}"`);
}

/** True where the key can be read although it should be nowhere. */
function kept(lane: Lane): boolean {
  const { dataDir, logLines } = sceneOf(lane).gateway;
  const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dataDir, name))
    .filter((path) => statSync(path).isFile());
  return [...files.map((path) => readFileSync(path, 'latin1')), logLines.join('\n')].some((text) =>
    text.includes(UPSTREAM_KEY),
  );
}

const rows = LANES.flatMap((lane) => UPSTREAM_PROTOCOLS.map((protocol) => [lane, protocol] as const));

describe.each(rows)('%s lane, %s', (lane, protocol) => {
  const said = dialect(protocol, 'm');

  test('a key is masked in a whole response', async () => {
    sceneOf(lane)
      .upstream('up')
      .always(whole(said.whole(`You sent ${UPSTREAM_KEY}.`)));
    const response = await ask(lane, protocol, false);
    expect(response.headers.get('x-dragoman-lane')).toBe(lane);
    expect(CLIENTS[protocol].receive(false, await response.text()).text).toBe('You sent [secret].');
  });

  test('a key is masked in a stream, and in its log', async () => {
    sceneOf(lane)
      .upstream('up')
      .always(stream(streamOf(said, 'You sent ', UPSTREAM_KEY, '.')));
    const received = CLIENTS[protocol].receive(true, await (await ask(lane, protocol, true)).text());
    expect(received).toMatchObject({ text: 'You sent [secret].', complete: true });
    expect(kept(lane)).toBe(false);
  });

  test('a key is masked in a failure after content, cut within the key', async () => {
    const frame = failing(protocol, `Incorrect key ${UPSTREAM_KEY}, not sk-of-somebody-else-0123456789`);
    const middle = frame.indexOf(UPSTREAM_KEY) + 5;
    const upstream = sceneOf(lane).upstream('up');
    upstream.always(opened(said.opening + said.piece('Hello') + frame.slice(0, middle)));
    const reading = new StreamReading(await ask(lane, protocol, true));
    await reading.until('Hello');
    const [exchange] = upstream.exchanges;
    exchange?.chunk(frame.slice(middle));
    exchange?.endStream();
    const { error } = CLIENTS[protocol].receive(true, await reading.rest());
    expect(error).toContain('Incorrect key [secret], not [secret]');
    expect(reading.text).not.toContain(UPSTREAM_KEY);
  });

  test('a key is masked in a failure after content, written with escapes', async () => {
    const hidden = UPSTREAM_KEY.replace('s', '\\u0073').replace('-', '\\u002d');
    const frames = said.opening + said.piece('Hello') + failing(protocol, `Incorrect key ${hidden}`);
    sceneOf(lane).upstream('up').always(stream(frames));
    const text = await (await ask(lane, protocol, true)).text();
    expect(CLIENTS[protocol].receive(true, text).error).toContain('Incorrect key [secret]');
    expect(text).not.toContain(hidden);
  });

  test('a key is masked in an error response, written with escapes', async () => {
    const hidden = UPSTREAM_KEY.replace('s', '\\u0073');
    sceneOf(lane)
      .upstream('up')
      .always(whole(`{"error":{"message":"Incorrect key ${hidden}","code":1}}`, 500));
    const text = await (await ask(lane, protocol, false)).text();
    expect(text).not.toContain(hidden);
    expect(text).not.toContain(UPSTREAM_KEY);
    expect(kept(lane)).toBe(false);
  });
});

test.each(LANES)('%s lane: in a response that is stored', async (lane) => {
  const said = dialect('openai-responses', 'm');
  sceneOf(lane)
    .upstream('up')
    .always(whole(said.whole(`You sent ${UPSTREAM_KEY}.`)));
  const response = await ask(lane, 'openai-responses', false, { store: true });
  const { id } = (await response.json()) as { id: string };
  const stored = await (await sceneOf(lane).gateway.get(`/responses/${id}`)).text();
  expect(stored).toContain('You sent [secret].');
  expect(kept(lane)).toBe(false);
});
