// Answers of upstreams that nest without end, which JSON parsers take and everything behind them pays for: each is a
// failure of the upstream, told at once and in every protocol. Relayed and translated, whole and in streams.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { stream as sse, whole } from '../../support/upstreams/answers.ts';
import { CLIENTS } from '../../support/upstreams/client-dialects.ts';
import { dialect, UPSTREAM_PROTOCOLS } from '../../support/upstreams/dialects.ts';
import { startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';

const scenes: { relayed?: Scene; translated?: Scene } = {};
beforeAll(async () => {
  [scenes.relayed, scenes.translated] = await Promise.all([
    startScene(['one'], { faithful: true }),
    startScene(['one']),
  ]);
});
afterAll(async () => {
  for (const scene of Object.values(scenes)) await scene[Symbol.asyncDispose]();
});

const nested = (levels: number): string => '[{"a":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2);
const LEVELS = [
  ['too deep', 100_000, true],
  ['as deep as may be', 250, false],
] as const;

describe.each(['relayed', 'translated'] as const)('%s', (lane) => {
  describe.each(UPSTREAM_PROTOCOLS)('%s', (protocol) => {
    const model = `one/${protocol.split('-').at(-1)}`;
    const { ask, receive, path } = CLIENTS[protocol];
    const says = dialect(protocol, 'x');
    const scene = (): Scene => scenes[lane] as Scene;

    test.each(LEVELS)('limits the depth of a whole response: %s', async (_, levels, fails) => {
      const body = JSON.stringify(says.whole('Hello')).replace(/^\{/, `{"extra":${nested(levels)},`);
      scene().upstream('one').script(whole(body));
      const response = await scene().gateway.post(path(model, false), ask(model, false));
      const text = await response.text();
      expect(response.ok).toBe(!fails);
      if (fails) expect(text).toContain('a response that is nested more than 256 levels deep');
      else expect(receive(false, text).text).toBe('Hello');
    });

    test.each(LEVELS)('limits the depth of an event of a stream: %s', async (_, levels, fails) => {
      const { opening, piece, ending, endMark } = says;
      const last = ending('Hello') + endMark;
      const deep = last.replace(/data: ?\{/, (start) => `${start}"extra":${nested(levels)},`);
      scene()
        .upstream('one')
        .script(sse([opening, piece('Hello'), deep]));
      const response = await scene().gateway.post(path(model, true), ask(model, true));
      const received = receive(true, await response.text());
      expect(received.text).toBe('Hello');
      expect(received.complete).toBe(!fails);
      if (fails) expect(received.error).toContain('a frame that is nested more than 256 levels deep');
    });
  });
});
