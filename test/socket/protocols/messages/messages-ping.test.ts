// A Messages stream that falls silent: comments until it has begun, and from then on the protocol's own sign of life,
// in both lanes and never inside of an event.
import { afterAll, expect, test } from 'bun:test';
import { silence } from '../../../support/upstreams/answers.ts';
import { ArmedClock } from '../../../support/upstreams/armed-clock.ts';
import { CLIENTS } from '../../../support/upstreams/client-dialects.ts';
import { dialect, type UpstreamProtocol } from '../../../support/upstreams/dialects.ts';
import { startScene, StreamReading } from '../../../support/upstreams/gateway-with-upstreams.ts';

const clock = new ArmedClock();
const scene = await startScene(['up'], { clock, faithful: true });
afterAll(() => scene[Symbol.asyncDispose]());

const { ask, receive } = CLIENTS['anthropic-messages'];
const PING = 'event: ping\ndata: {"type":"ping"}\n\n';

test.each<[UpstreamProtocol, string]>([
  ['anthropic-messages', 'one/messages'],
  ['openai-chat', 'one/chat'],
])('a Messages stream gets pings over %s', async (protocol, model) => {
  const up = dialect(protocol, 'up-0001');
  scene.upstream('up').script(silence);
  const asked = scene.gateway.post('/messages', ask(model, true));
  const exchange = await scene.upstream('up').arrived(1);
  clock.advance(10_100);
  const response = await asked;
  const reading = new StreamReading(response);
  expect(await reading.until('\n\n')).toBe(': keep-alive\n\n');
  exchange.openStream();
  exchange.chunk(up.opening + up.piece('Once'));
  await reading.until('Once');
  const pings = (): number => reading.text.split(PING).length;
  const before = pings();
  const rest = up.piece(' upon') + up.ending('Once upon') + up.endMark;
  exchange.chunk(rest.slice(0, 40));
  // A round trip: what was on its way to the gateway before it has been read after it.
  await (await scene.gateway.get('/files')).text();
  clock.advance(10_100);
  while (pings() === before) await reading.more();
  exchange.chunk(rest.slice(40));
  exchange.endStream();
  const text = await reading.rest();
  expect(text.split(/^:/m)).toHaveLength(2);
  for (const event of text.split('\n\n').slice(1, -1)) expect(event).toMatch(/^event: \w+\ndata: .*\}$/);
  expect(receive(true, text)).toEqual({ text: 'Once upon', complete: true, error: null, starts: 1 });
});
