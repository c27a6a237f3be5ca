// The model of the jobs: answers each question with itself, after a while, and counts what it has billed.
import type { Chance } from '../../support/simulated-world.ts';

/** How long an answer takes, in milliseconds. */
const LEAST_MS = 20;
const MOST_MS = 400;

export interface Billing {
  /** Base address for Chat Completions. */
  readonly base: string;
  /** Requests that it got, by model. */
  readonly asked: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Stands for the model of requests whose body has not come whole. */
const UNREAD = 'unread';

/** Answer to a question. */
export function answerTo(question: string): string {
  return `Answer to ${question}.`;
}

export function startBilling(chance: Chance): Billing {
  const asked = new Map<string, number>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      // A request counts though whoever sent it has died since.
      const question = await (request.json() as Promise<Question>).catch(() => null);
      const model = question?.model ?? UNREAD;
      asked.set(model, (asked.get(model) ?? 0) + 1);
      if (!question) return new Response(null, { status: 400 });
      const { messages, stream = false } = question;
      const text = answerTo(questionIn(messages.at(-1)?.content));
      const ms = chance.whole(LEAST_MS, MOST_MS);
      const head = { id: 'c', created: 1, model: 'm' };
      const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
      if (!stream) {
        await Bun.sleep(ms);
        const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }];
        return Response.json({ ...head, object: 'chat.completion', choices, usage });
      }
      const frame = (delta: object, finish: string | null, more: object = {}): string => {
        const choices = [{ index: 0, delta, finish_reason: finish }];
        return `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
      };
      const words = text.split(/(?<= )/);
      const body = new ReadableStream<Uint8Array>({
        async start(controller) {
          try {
            for (const word of words) {
              controller.enqueue(Buffer.from(frame({ content: word }, null)));
              await Bun.sleep(ms / words.length);
            }
            controller.enqueue(Buffer.from(`${frame({}, 'stop', { usage })}data: [DONE]\n\n`));
            controller.close();
          } catch {
            // The process that asked is dead.
          }
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  return {
    base: `http://127.0.0.1:${server.port}/v1`,
    asked,
    stop: () => server.stop(true),
  };
}

interface Question {
  readonly model: string;
  readonly messages: readonly { readonly content: string | readonly { readonly text?: string }[] }[];
  readonly stream?: boolean;
}

function questionIn(content: Question['messages'][number]['content'] | undefined): string {
  return typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('');
}
