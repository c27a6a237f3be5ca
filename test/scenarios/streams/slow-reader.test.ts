// A client that does not read for a while makes one burst of many small events: what piled up on the way. Working it off
// holds nobody else up.
import { describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { CHAT_ENDING, CHAT_OPENING, chatChunk, frame } from '../../support/upstreams/answers.ts';
import { CLIENTS, type ClientProtocol } from '../../support/upstreams/client-dialects.ts';
import { startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { usedMs } from '../../../src/base/runtime/machine.ts';

const COUNT = 40_000;
/** Milliseconds that the loop may be late, the other parties of this very process included. */
const PATIENCE = 250;

/** Tool arguments in very small pieces. */
const STREAMS: Readonly<Record<string, readonly [opening: string, delta: string, ending: string]>> = {
  'openai-chat': [
    CHAT_OPENING +
      chatChunk({
        tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }],
      }),
    chatChunk({ tool_calls: [{ index: 0, function: { arguments: '12' } }] }),
    CHAT_ENDING,
  ],
  'anthropic-messages': [
    frame({
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: {} },
    }) +
      frame({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
      }),
    frame({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '12' } }),
    frame({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } }) +
      frame({ type: 'message_stop' }),
  ],
  'openai-responses': [
    frame({ type: 'response.created', sequence_number: 0, response: { id: 'r', model: 'm', output: [] } }) +
      frame({
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'function_call', id: 'fc', call_id: 'c', name: 'f', arguments: '' },
      }),
    frame({ type: 'response.function_call_arguments.delta', item_id: 'fc', output_index: 0, delta: '12' }),
    frame({ type: 'response.completed', response: { id: 'r', model: 'm', status: 'completed', output: [] } }),
  ],
};
/** End of a chunked body. */
const END = '\r\n0\r\n\r\n';

const lanes = (['relay', 'translate'] as const).flatMap((lane) =>
  (Object.keys(STREAMS) as ClientProtocol[]).map((protocol) => [lane, protocol] as const),
);

describe.each(lanes)('%s lane, %s', (lane, protocol) => {
  test('a burst is worked off while others are served', async () => {
    await using scene = await startScene(['up'], {
      faithful: lane === 'relay',
      config: {
        models: [
          {
            id: 'plain/responses',
            endpoints: [{ provider: 'up', model: 'm', protocol: 'openai-responses' }],
          },
        ],
      },
    });
    const [opening = '', delta = '', ending = ''] = STREAMS[protocol] ?? [];
    scene.upstream('up').always((exchange) => {
      exchange.openStream();
      exchange.chunk(opening);
      // In a few writes: here it is not the upstream whose time is measured.
      for (let sent = 0; sent < 8; sent++) exchange.chunk(delta.repeat(COUNT / 8));
      exchange.chunk(ending);
      exchange.endStream();
    });
    const client = new SleepyClient(scene, protocol);
    await client.asleep;
    // As much as the sockets hold is on its way by now.
    await new Promise((resolve) => setTimeout(resolve, 200));
    const late = await lateness(client.read(END));
    expect(client.received).toBeGreaterThan(COUNT * 50);
    expect(late).toBeLessThan(PATIENCE);
  });
});

/** For how long the loop computed at most without a turn until `done`, in milliseconds: nobody else makes it late. */
async function lateness(done: Promise<void>): Promise<number> {
  let latest = 0;
  let last = usedMs();
  const watch = setInterval(() => {
    const now = usedMs();
    latest = Math.max(latest, now - last);
    last = now;
  }, 1);
  await done;
  clearInterval(watch);
  return Math.max(latest, usedMs() - last);
}

/** Reads the beginning of an answer, and the rest when it is told to. */
class SleepyClient {
  received = 0;
  readonly asleep: Promise<void>;
  readonly #socket;
  #tail = '';
  #awaited = '';
  #found = (): void => {};

  constructor(scene: Scene, protocol: ClientProtocol) {
    const { hostname, port } = new URL(scene.gateway.origin);
    const { path, ask } = CLIENTS[protocol];
    const model = protocol === 'openai-responses' ? 'plain/responses' : `one/${protocol.split('-').at(-1)}`;
    const json = JSON.stringify(ask(model, true));
    this.#socket = connect(Number(port), hostname);
    this.#socket.write(
      `POST /v1${path(model, true)} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer sk-test\r\n` +
        `content-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`,
    );
    this.asleep = new Promise((resolve) => {
      this.#socket.once('data', () => {
        this.#socket.pause();
        resolve();
      });
    });
    this.#socket.on('data', (bytes: Buffer) => {
      this.received += bytes.length;
      this.#tail = (this.#tail + bytes.subarray(-64).toString('latin1')).slice(-64);
      if (this.#awaited !== '' && this.#tail.includes(this.#awaited)) this.#found();
    });
  }

  /** Settles when this was read. */
  async read(end: string): Promise<void> {
    this.#awaited = end;
    const found = new Promise<void>((resolve) => (this.#found = resolve));
    this.#socket.resume();
    await found;
    this.#socket.destroy();
  }
}
