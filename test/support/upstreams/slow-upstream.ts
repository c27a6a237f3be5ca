// An upstream of Chat Completions that sends a first word, and the rest when a test lets it. Counts those who leave before.

export interface SlowUpstream {
  /** Base address. */
  readonly base: string;
  /** Connections that were closed before the end. */
  readonly aborted: number;
  /** Sends the rest to all who wait. */
  go(): void;
  stop(): void;
}

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

export async function startSlow(): Promise<SlowUpstream> {
  let aborted = 0;
  let waiting: (() => void)[] = [];
  const encoder = new TextEncoder();
  const server = Bun.serve({
    port: 0,
    fetch(request) {
      let isOver = false;
      let hasLeft = false;
      request.signal.addEventListener('abort', () => {
        if (isOver) return;
        hasLeft = true;
        aborted += 1;
      });
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          const send = (text: string): void => controller.enqueue(encoder.encode(text));
          send(chunk({ role: 'assistant', content: 'one' }));
          waiting.push(() => {
            if (hasLeft) return;
            isOver = true;
            send(chunk({ content: ' two' }));
            send(chunk({}, 'stop'));
            send('data: [DONE]\n\n');
            controller.close();
          });
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  return {
    base: `http://127.0.0.1:${server.port}/v1`,
    get aborted() {
      return aborted;
    },
    go() {
      for (const send of waiting) send();
      waiting = [];
    },
    stop: () => void server.stop(true),
  };
}
