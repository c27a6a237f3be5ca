// The clients: each asks again and again in its own way, and writes down what became of each request. Knows nothing of what
// goes wrong meanwhile.
import { receive, type Received, type ProtocolName } from './asks.ts';
import { LOAD_KEY, MODEL } from './cluster.ts';
import type { Chance } from '../../support/simulated-world.ts';

export interface Note {
  readonly received: Received;
  /** Name of the key that asked. */
  readonly key: string;
  readonly protocol: ProtocolName;
  /** When it was asked and when that was over, in milliseconds of this process. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** A turn of a conversation, as its client knows it. */
export interface Turn {
  readonly text: string;
  readonly received: Received;
}

export interface Reported {
  readonly notes: Note[];
  /** By the id of the conversation. */
  readonly conversations: Map<string, Turn[]>;
  /** Numbers of all answers that a client got for one idempotency key. */
  readonly repeated: Map<string, number[]>;
  /** Ids of stored responses that arrived as a whole. */
  readonly stored: string[];
}

export interface LoadOptions {
  readonly origin: string;
  readonly chance: Chance;
  /** The name of the key with a budget that is to be spent now. */
  readonly budget: () => string;
}

export interface Load {
  readonly reported: Reported;
  stop(): Promise<void>;
}

/** Between the answer and the next question, in milliseconds. */
const PAUSE_MS = 60;
const MOST_TURNS = 12;
const RETRIES = 4;

/** Clients that spend a budget: as many answers may run when it is used up, and go on until their process has heard so. */
export const SPENDERS = 6;
/** How many clients ask in each way. */
const CLIENTS: Readonly<Record<string, number>> = {
  repeating: 4,
  conversing: 4,
  continuing: 2,
  messages: 3,
  gemini: 3,
  runningCost: SPENDERS,
};

/** Starts all clients. */
export function startLoad(options: LoadOptions): Load {
  const reported: Reported = { notes: [], conversations: new Map(), repeated: new Map(), stored: [] };
  let running = true;
  const until = async (round: () => Promise<void>): Promise<void> => {
    while (running) {
      await round();
      await Bun.sleep(PAUSE_MS * (0.5 + options.chance.next()));
    }
  };
  const clients = Object.entries(CLIENTS).flatMap(([way, count]) =>
    Array.from({ length: count }, () => until(waysOf(options, reported)[way] ?? unknownWay)),
  );
  return {
    reported,
    async stop() {
      running = false;
      await Promise.all(clients);
    },
  };
}

function unknownWay(): never {
  throw new Error('there is no such way to ask');
}

function waysOf(
  { origin, chance, budget }: LoadOptions,
  reported: Reported,
): Record<string, () => Promise<void>> {
  let asked = 0;
  const ask = async (
    protocol: ProtocolName,
    key: string,
    { text = '', more = {}, headers = {}, isStreamed = chance.happens(0.5) },
  ): Promise<Received> => {
    asked += 1;
    const fromMs = performance.now();
    const question = { model: MODEL, text: `[${key}] ${text}`, isStreamed, more };
    const received = await receive(origin, `sk-test-${key}`, protocol, question, headers);
    reported.notes.push({ received, key, protocol, fromMs, toMs: performance.now() });
    return received;
  };
  let conversation: string | undefined;
  let previous: string | undefined;
  return {
    async repeating() {
      const name = crypto.randomUUID();
      const headers = { 'idempotency-key': name };
      const isStreamed = chance.happens(0.5);
      const numbers: number[] = [];
      reported.repeated.set(name, numbers);
      for (let tries = 0; tries < RETRIES; tries += 1) {
        const received = await ask('chat', 'load', { text: name, headers, isStreamed });
        if (received.kind === 'answered') numbers.push(received.number);
        // Some do not know that they were answered.
        if (received.kind === 'answered' && chance.happens(0.7)) return;
        await Bun.sleep(100);
      }
    },
    async conversing() {
      const turns = conversation === undefined ? undefined : reported.conversations.get(conversation);
      if (!conversation || !turns || turns.length >= MOST_TURNS) {
        conversation = await newConversation(origin);
        if (conversation) reported.conversations.set(conversation, []);
        return;
      }
      const text = `turn ${turns.length}`;
      const received = await ask('responses', 'load', { text, more: { conversation } });
      turns.push({ text: `[load] ${text}`, received });
    },
    async continuing() {
      const more = { store: true, ...(previous ? { previous_response_id: previous } : {}) };
      const received = await ask('responses', 'load', { text: `step ${asked}`, more });
      if (received.kind !== 'answered' || asked % MOST_TURNS === 0) previous = undefined;
      else {
        previous = /"id":\s*"(resp_[\w-]+)"/.exec(received.text)?.[1];
        if (previous) reported.stored.push(previous);
      }
    },
    messages: async () => void (await ask('messages', 'load', { text: 'hi' })),
    gemini: async () => void (await ask('gemini', 'load', { text: 'hi' })),
    runningCost: async () =>
      void (await ask(chance.happens(0.5) ? 'chat' : 'messages', budget(), { text: 'spend' })),
  };
}

async function newConversation(origin: string): Promise<string | undefined> {
  const answer = await fetch(`${origin}/v1/conversations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${LOAD_KEY}`, 'content-type': 'application/json' },
    body: '{}',
    signal: AbortSignal.timeout(10_000),
  }).catch(() => null);
  if (!answer?.ok) return undefined;
  const { id } = (await answer.json().catch(() => ({}))) as { id?: string };
  return id;
}
