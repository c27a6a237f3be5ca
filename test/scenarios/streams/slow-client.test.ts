// A client that reads slower than its model writes: the upstream waits, and neither memory nor a timeout pays for it.
import { expect, test } from 'bun:test';
import { CHAT_ENDING, CHAT_OPENING, chatChunk } from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { RawClient } from '../../support/upstreams/raw-client.ts';

const CHUNK = chatChunk({ content: 'x'.repeat(10_000) });
/** Far more than the sockets on the way can hold. */
const COUNT = 5_000;
const SIZE = CHUNK.length * COUNT;

test.each(['relay', 'translate'] as const)(
  'a slow client pauses the upstream in the %s lane',
  async (lane) => {
    const clock = new ArmedClock();
    await using scene = await startScene(['up'], { clock, faithful: lane === 'relay' });
    const up = scene.upstream('up');
    up.always((exchange) => {
      exchange.openStream();
      exchange.chunk(CHAT_OPENING);
      for (let sent = 0; sent < COUNT; sent++) exchange.chunk(CHUNK);
      exchange.chunk(CHAT_ENDING);
      exchange.endStream();
    });
    const body = { model: 'one/chat', messages: [{ role: 'user', content: 'Hello' }], stream: true };

    const slow = new RawClient(scene.gateway.origin, body);
    slow.pause();
    await up.arrived(1);
    // Another client reads as much at full speed: by then the gateway could have swallowed all of the first answer.
    const quick = new RawClient(scene.gateway.origin, body);
    await quick.until('data: [DONE]');
    expect(up.exchanges[0]?.unsentBytes).toBeGreaterThan(SIZE / 2);

    // Much longer than any silence may last; but it is the client that is silent.
    clock.advance(200_000);
    slow.resume();
    await slow.until('data: [DONE]');
    expect(slow.received).toBeGreaterThan(SIZE * 0.9);
    expect(up.exchanges[0]?.unsentBytes).toBe(0);
    for (const client of [slow, quick]) client.close();
  },
);
