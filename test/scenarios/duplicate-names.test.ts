// A name that stands twice in an object means one thing to the gateway and may mean another to an upstream: it is
// refused before anybody reads it, so that a key that may use one model reaches no other. In every protocol, on both
// lanes, and on WebSockets.
import { describe, expect, test } from 'bun:test';
import { SocketClient } from '../support/socket-client.ts';
import { CLIENTS, type ClientProtocol } from '../support/upstreams/client-dialects.ts';
import { startScene } from '../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../support/upstreams/json-path.ts';

const KEYS = [
  { name: 'test', key: 'sk-test', models: ['one/chat', 'one/responses', 'one/messages', 'one/gemini'] },
];
const MODELS: Readonly<Record<ClientProtocol, string>> = {
  'openai-chat': 'one/chat',
  'openai-responses': 'one/responses',
  'anthropic-messages': 'one/messages',
  gemini: 'one/gemini',
};
/** The model that the key may not use, in a second member of the same name: as it is, and as parsers read it. */
const FORBIDDEN = ['"model":"all/chat"', '"\\u006dodel":"all/chat"', '"\\u006D\\u006f\\u0064el":"all/chat"'];

describe.each([
  ['relayed', true],
  ['translated', false],
])('%s', (_, faithful) => {
  test.each(Object.entries(CLIENTS))(
    'a key reaches no other model by naming two: %s',
    async (name, client) => {
      await using scene = await startScene(['one'], { faithful, config: { keys: KEYS } });
      const model = MODELS[name as ClientProtocol];
      const { model: _given, ...rest } = client.ask(model, false);
      const others = JSON.stringify(rest).slice(1, -1);
      for (const forbidden of FORBIDDEN)
        for (const body of [
          `{"model":"${model}",${forbidden},${others}}`,
          `{${forbidden},${others},"model":"${model}"}`,
        ]) {
          const response = await scene.gateway.post(client.path(model, false), body);
          expect(response.status).toBe(400);
          expect(await response.text()).toContain('model: is a duplicate member of the object');
        }
      expect(scene.upstream('one').requests).toEqual([]);
    },
  );

  test('refuses duplicate members in a message of a WebSocket', async () => {
    await using scene = await startScene(['one'], { faithful, config: { keys: KEYS } });
    await using client = await SocketClient.open(scene.gateway.origin);
    for (const forbidden of FORBIDDEN) {
      const before = client.messages.length;
      client.send(`{"type":"response.create","model":"one/responses",${forbidden},"input":"Hi"}`);
      const [error] = await client.ended(undefined, before);
      expect(at(error, 'type')).toBe('error');
      expect(at(error, 'error', 'message')).toContain('model: is a duplicate member of the object');
    }
    expect(scene.upstream('one').requests).toEqual([]);
  });
});
