// Work that grows with two things at once, the many and what each of them looks through: twice as much of both takes
// twice as long, not four times.
import { expect, test } from 'bun:test';
import { GatewayError, Report } from '../../../src/canonical/index.ts';
import { portableRequest } from '../../../src/protocols/openai-responses/requests/portable-request.ts';
import { protocols } from '../../../src/protocols/index.ts';
import { usedMs } from '../../../src/base/runtime/machine.ts';
import { readMultipart } from '../../../src/server/body/multipart.ts';
import { codecContext, fillRequest } from '../../support/golden-operations.ts';
import { growthOf, MOST_GROWTH, settledGrowth } from '../../support/growth.ts';

const upstream = (name: string) => protocols.find((each) => each.name === name)!.upstream;
const server = (name: string) => protocols.find((each) => each.name === name)!.server!;

const GROUNDED = ['in place', 'elsewhere', 'nowhere', 'by bytes'] as const;

test.each(GROUNDED)('citations of a long text take linear time, words %s', (place) => {
  const growth = growthOf((n) => {
    const count = 500 * n;
    const text = 'Zürich is wet. '.repeat(count);
    const groundingSupports = Array.from({ length: count }, (_, index) => ({
      segment: {
        startIndex: 16 * (place === 'elsewhere' ? count - 1 - index : index),
        endIndex: 16 * index + 15,
        ...(place === 'by bytes'
          ? {}
          : { text: place === 'nowhere' ? `Bern ${index} is dry` : 'Zürich is wet.' }),
      },
      groundingChunkIndices: [0],
    }));
    const body = {
      candidates: [
        {
          content: { role: 'model', parts: [{ text }] },
          finishReason: 'STOP',
          groundingMetadata: {
            groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
            groundingSupports,
          },
        },
      ],
    };
    return () => upstream('gemini').decodeResponse(body, { on() {} }, codecContext());
  });
  expect(growth).toBeLessThan(MOST_GROWTH);
});

test('citations of a long text take linear time for clients of Gemini', () => {
  const growth = growthOf((n) => {
    const count = 500 * n;
    return () => {
      const encoder = server('gemini').encodeStream(() => {}, {
        id: 'gen-1',
        createdSeconds: 1,
        model: 'm',
        reasoningContentMirror: false,
        request: fillRequest({ protocol: 'gemini' }),
      });
      encoder.on({ type: 'start' });
      encoder.on({ type: 'open', index: 0, item: { type: 'message' } });
      encoder.on({ type: 'text', index: 0, part: 0, kind: 'text', text: 'Zürich is wet. '.repeat(count) });
      for (let index = 0; index < count; index++) {
        const [start, end] = [15 * index, 15 * index + 14];
        const annotation = {
          type: 'url_citation',
          url: 'https://a.example',
          title: 'A',
          start,
          end,
        } as const;
        encoder.on({ type: 'annotate', index: 0, part: 0, annotation });
      }
      encoder.on({ type: 'close', index: 0 });
      encoder.on({ type: 'finish', reason: 'stop' });
    };
  });
  expect(growth).toBeLessThan(MOST_GROWTH);
});

test.each(['in order', 'the other way round', 'without ids'])(
  'outputs of shell calls take linear time %s',
  (order) => {
    const growth = growthOf((n) => {
      const ids = Array.from({ length: 1000 * n }, (_, index) => `c${index}`);
      const input = [
        ...ids.map((id) => ({
          type: 'local_shell_call',
          id: `i${id}`,
          call_id: id,
          status: 'completed',
          action: { type: 'exec', command: ['ls'], env: {} },
        })),
        ...(order === 'the other way round' ? ids.toReversed() : ids).map((id) => ({
          type: 'local_shell_call_output',
          id: order === 'without ids' ? `unknown ${id}` : id,
          output: '{}',
        })),
      ];
      const request = server('openai-responses').decodeRequest({ model: 'm', input }, { model: 'm' });
      return () => portableRequest(request, { protocol: 'openai-chat', faithful: false }, new Report());
    });
    expect(growth).toBeLessThan(MOST_GROWTH);
  },
);

test('calls with equal numbers in several turns take linear time', () => {
  const growth = growthOf((n) => {
    const ids = Array.from({ length: 1500 * n }, (_, index) => `c${index}`);
    const frames = ['begin', 'go on'].flatMap((step) =>
      ids.map((id) =>
        JSON.stringify({
          id: 'x',
          choices: [
            {
              index: 0,
              delta: {
                tool_calls: [
                  {
                    index: 0,
                    id,
                    type: 'function',
                    function: { name: step === 'begin' ? 'f' : '', arguments: '1' },
                  },
                ],
              },
            },
          ],
        }),
      ),
    );
    return () => {
      const decoder = upstream('openai-chat').decodeStream({ on() {} }, codecContext());
      for (const frame of frames) decoder.frame('', frame);
      decoder.end();
    };
  });
  expect(growth).toBeLessThan(MOST_GROWTH);
});

test('the head of a part takes linear time a byte at a time', async () => {
  const headOf = (length: number): Buffer =>
    Buffer.from(
      `--B\r\ncontent-disposition: form-data; name="a"\r\n${`x: ${'\r\r\n'.repeat(10)}y\r\n`.repeat(length / 35)}`,
    );
  const heads = new Map([1, 4].map((n) => [n, headOf(3500 * n)]));
  const growth = await settledGrowth(async (n) => {
    const from = usedMs();
    for (let times = 0; times < 4; times++)
      await readMultipart(
        bytesOf(heads.get(n) ?? Buffer.of()),
        'multipart/form-data; boundary=B',
        () => () => {},
      ).catch((error) => {
        if (!GatewayError.is(error)) throw error;
      });
    return usedMs() - from;
  });
  expect(growth).toBeLessThan(7);
});

async function* bytesOf(buffer: Buffer): AsyncGenerator<Uint8Array> {
  for (const byte of buffer) yield Uint8Array.of(byte);
}
