// The upstream of the crash matrix: speaks Chat Completions, numbers its answers, writes them as fast as
// the model's name says (`paced-100`: a piece in 100 ms), and remembers what each has cost. Knows
// nothing of gateways.

/** Tokens of a whole answer, one for each piece of a stream. */
export const ANSWER_TOKENS = 20;
/** Between two pieces, unless the model's name says so, and before a whole answer, in milliseconds. */
const PIECE_MS = 12;
const WHOLE_MS = 120;
/** Tag by which a client says what its request is for. */
const TAG = /\[([\w-]+)\]/g;

/** Work that was done for one request. */
export interface Bill {
  /** Purpose of the request, as its client wrote it. */
  readonly tag: string;
  /** Tokens that were written. */
  tokens: number;
}

export interface Upstream {
  readonly port: number;
  /** By the number of the answer. */
  readonly bills: ReadonlyMap<number, Bill>;
  stop(): Promise<void>;
}

/** Starts it on a free port. */
export function startUpstream(): Upstream {
  const bills = new Map<number, Bill>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const text = await request.text();
      const { model, stream } = JSON.parse(text) as { model: string; stream?: boolean };
      const number = bills.size + 1;
      // The last one is that of this turn; those before are its history.
      const bill = { tag: [...text.matchAll(TAG)].at(-1)?.[1] ?? '', tokens: 0 };
      bills.set(number, bill);
      return stream ? streamed(model, number, bill) : whole(model, number, bill);
    },
  });
  return { port: server.port ?? 0, bills, stop: () => server.stop(true) };
}

async function whole(model: string, number: number, bill: Bill): Promise<Response> {
  await Bun.sleep(WHOLE_MS);
  bill.tokens = ANSWER_TOKENS;
  const content = Array.from({ length: ANSWER_TOKENS }, (_, at) => piece(number, at)).join('');
  return Response.json({
    ...envelope(model, number, 'chat.completion'),
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: usage(),
  });
}

function streamed(model: string, number: number, bill: Bill): Response {
  const encoder = new TextEncoder();
  const pieceMs = Number(/^paced-(\d+)$/.exec(model)?.[1] ?? PIECE_MS);
  const event = (members: object): Uint8Array =>
    encoder.encode(
      `data: ${JSON.stringify({ ...envelope(model, number, 'chat.completion.chunk'), ...members })}\n\n`,
    );
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await Bun.sleep(pieceMs);
      if (bill.tokens < ANSWER_TOKENS) {
        const delta = { role: 'assistant', content: piece(number, bill.tokens) };
        controller.enqueue(event({ choices: [{ index: 0, delta, finish_reason: null }] }));
        bill.tokens += 1;
        return;
      }
      controller.enqueue(event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
      controller.enqueue(event({ choices: [], usage: usage() }));
      controller.enqueue(encoder.encode('data: [DONE]\n\n'));
      controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/** Four characters each, as estimates of tokens assume; the first says the number. */
function piece(number: number, at: number): string {
  return at === 0 ? `#${number}. ` : 'abc ';
}

function envelope(model: string, number: number, object: string): object {
  return { id: `answer-${number}`, object, created: 1_790_000_000, model };
}

function usage(): object {
  return { prompt_tokens: 10, completion_tokens: ANSWER_TOKENS, total_tokens: 10 + ANSWER_TOKENS };
}
