// All pairs of client and upstream protocols: their names, and a table of the cost per chunk, relative to chat →
// chat.
import { type Api, CHAT, GEMINI, MESSAGES, RESPONSES } from './apis.ts';
import { aligned, median, type Results } from './report.ts';

const PAIRED_APIS = ['chat', 'responses', 'messages', 'gemini'] as const;
type PairedApi = (typeof PAIRED_APIS)[number];

export type PairName = `pair-${PairedApi}-${PairedApi}`;

export interface Pair {
  readonly name: PairName;
  readonly label: string;
  readonly client: Api;
  /** Provider in the gateway's configuration. */
  readonly provider: `pair-${PairedApi}`;
}

const APIS: Readonly<Record<PairedApi, Api>> = {
  chat: CHAT,
  responses: RESPONSES,
  messages: MESSAGES,
  gemini: GEMINI,
};
const LABELS: Readonly<Record<PairedApi, string>> = {
  chat: 'Chat Completions',
  responses: 'Responses',
  messages: 'Messages',
  gemini: 'Gemini',
};
const PROTOCOLS: Readonly<Record<PairedApi, string>> = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
  gemini: 'gemini',
};

export const PAIRS: readonly Pair[] = PAIRED_APIS.flatMap((client) =>
  PAIRED_APIS.map((upstream): Pair => ({
    name: `pair-${client}-${upstream}`,
    label: `Dragoman, ${LABELS[client]} → ${LABELS[upstream]}`,
    client: APIS[client],
    provider: `pair-${upstream}`,
  })),
);

/** Baseline of the other pairs. */
export const FIRST_PAIR: PairName = 'pair-chat-chat';

/** One provider per upstream protocol. None is faithful, so that requests in its own protocol are translated too. */
export function pairProviders(origin: string): Record<Pair['provider'], object> {
  const entries = PAIRED_APIS.map((spoken) => {
    const version = spoken === 'gemini' ? 'v1beta' : 'v1';
    const entry = { base_url: `${origin}/${version}`, faithful: false };
    return [`pair-${spoken}`, { api_key: 'sk-test', protocols: { [PROTOCOLS[spoken]]: entry } }] as const;
  });
  return Object.fromEntries(entries) as Record<Pair['provider'], object>;
}

/** Table of CPU time per chunk, with clients as rows and upstreams as columns; '' if nothing was measured. */
export function pairTable(results: Results): string {
  const figures = results['pairs'];
  const first = median(figures?.[FIRST_PAIR], 'cpuPerChunk');
  if (first === null) return '';
  const rows = PAIRED_APIS.map((client) => [
    LABELS[client],
    ...PAIRED_APIS.map((upstream) => {
      const value = median(figures?.[`pair-${client}-${upstream}`], 'cpuPerChunk');
      return value === null ? '' : `${(value / first).toFixed(2)}×`;
    }),
  ]);
  const head = ['client \\ upstream', ...PAIRED_APIS.map((upstream) => LABELS[upstream])];
  return `CPU per chunk, times chat → chat (${first.toFixed(1)} µs)\n${aligned([head, ...rows])}`;
}
