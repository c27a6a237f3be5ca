// Probes of an address: listed models, context length, and other protocols.
import { asNumber } from '../../../base/json/index.ts';
import type { Endpoint } from '../../../catalog/index.ts';
import { listModels } from '../../../engine/index.ts';
import { findProtocol, protocols, type Protocol } from '../../../protocols/index.ts';
import { QUESTION_TOKENS, type Examination } from '../examination.ts';
import { MOST_CONTEXT, no, unknown, yes, type Probe, type Verdict } from '../probe.ts';
import { isRefused, quoted } from '../read-answer.ts';

const CONTEXT_MEMBERS = [
  // vLLM, OpenRouter, Groq, Anthropic, Gemini, LM Studio and Mistral, in their API references (2026).
  'max_model_len',
  'context_length',
  'context_window',
  'max_input_tokens',
  'inputTokenLimit',
  'max_context_length',
];

const modelsList: Probe = {
  id: 'models_list',
  title: 'lists the model',
  calls: 1,
  tokens: () => 0,
  async run({ endpoint, asking, shared }) {
    const listed = await once(shared, `list ${endpoint.provider} ${endpoint.baseUrl}`, () =>
      listModels(endpoint, asking),
    );
    if (!listed) return unknown('no list of models');
    // Ollama lists models with their tag, and also accepts them without the default tag.
    const entry = listed.get(endpoint.model) ?? listed.get(`${endpoint.model}:latest`);
    if (!entry) return no(`not among its ${listed.size} listed models`);
    const contextLength = CONTEXT_MEMBERS.map((member) => asNumber(entry[member])).find(
      (tokens) => tokens !== undefined && Number.isInteger(tokens) && tokens > 0 && tokens <= MOST_CONTEXT,
    );
    return yes(`one of ${listed.size} listed models`, {
      value: contextLength === undefined ? undefined : `context ${contextLength}`,
      facts: contextLength === undefined ? {} : { contextLength },
    });
  },
};

const SIBLINGS = protocols.filter(({ upstream }) => upstream.facts.hasSiblings);

/** True if a protocol's paths begin with the version, so that its base URLs do not end with it. */
function isVersioned({ upstream }: Protocol): boolean {
  return upstream.path.startsWith(VERSION);
}
const VERSION = '/v1';

/** The same server addressed in another protocol. */
function siblingOf(endpoint: Endpoint, protocol: Protocol): Endpoint {
  const own = findProtocol(endpoint.protocol);
  const root = endpoint.baseUrl.replace(/\/v1$/, '');
  const hasVersion = (own && isVersioned(own)) || root !== endpoint.baseUrl;
  const baseUrl = !isVersioned(protocol) && hasVersion ? root + VERSION : root;
  const auth = endpoint.auth && { ...protocol.upstream.facts.auth, key: endpoint.auth.key };
  return {
    ...endpoint,
    protocol: protocol.name,
    baseUrl,
    auth,
    faithful: false,
    reasoningStyle: 'none',
  };
}

const otherProtocols: Probe = {
  id: 'protocols',
  title: 'other protocols at this address',
  suits: (protocol) => SIBLINGS.includes(protocol),
  calls: SIBLINGS.length - 1,
  tokens: () => (SIBLINGS.length - 1) * QUESTION_TOKENS,
  run: (examination) =>
    once(
      examination.shared,
      `protocols ${examination.endpoint.provider} ${examination.endpoint.baseUrl}`,
      () => findSiblings(examination),
    ),
};

async function findSiblings(examination: Examination): Promise<Verdict> {
  const { endpoint } = examination;
  if (endpoint.hosting || endpoint.credential)
    return unknown('skipped: other protocols have different addresses there');
  const found: string[] = [];
  const unclear: string[] = [];
  for (const protocol of SIBLINGS) {
    if (protocol.name === endpoint.protocol) continue;
    const answer = await examination.ask({
      text: 'Say hello in one word.',
      at: siblingOf(endpoint, protocol),
    });
    const status = answer.failure?.upstream?.status;
    if (!answer.failure) found.push(protocol.name);
    else if (isRefused(answer)) unclear.push(`${protocol.name}: ${quoted(answer.failure.message)}`);
    else if (status !== 404 && status !== 405 && status !== 501)
      unclear.push(`${protocol.name}: ${quoted(answer.failure.message)}`);
  }
  if (found.length > 0) return yes('can be added under `protocols`', { value: found.join(', ') });
  return unclear.length > 0 ? unknown(unclear.join('; ')) : no('none');
}

/** Runs a question once for all endpoints of an address. */
function once<T>(shared: Map<string, Promise<unknown>>, name: string, ask: () => Promise<T>): Promise<T> {
  const known = shared.get(name) as Promise<T> | undefined;
  if (known) return known;
  const asked = ask();
  shared.set(name, asked);
  return asked;
}

/** Assumed tokens if the context length is unknown. */
const USUAL_CONTEXT = 131_072;
/** Factor that exceeds the context with any tokenizer. */
const EXCESS = 1.5;
/** Maximum words of a prompt that is meant to be rejected. For larger contexts the probe is skipped. */
const MOST_WORDS = 4_000_000;

/** Null: longer than `MOST_WORDS`. */
function wordsFor(contextLength: number | null): number | null {
  const words = Math.ceil((contextLength ?? USUAL_CONTEXT) * EXCESS);
  return words > MOST_WORDS ? null : words;
}

const context: Probe = {
  id: 'context_limit',
  title: 'reports context length',
  deep: true,
  calls: 1,
  tokens: (contextLength) => wordsFor(contextLength) ?? 0,
  async run(examination) {
    const { endpoint } = examination;
    const words = wordsFor(endpoint.contextLength);
    if (words === null) return unknown(`skipped: would need a prompt of more than ${MOST_WORDS} words`);
    const answer = await examination.ask({ text: 'word '.repeat(words), maxOutputTokens: 16 });
    const { failure } = answer;
    if (!failure)
      return unknown(
        `accepted a prompt of ${words} words: the context is longer, or the prompt was truncated`,
      );
    const contextLength = limitIn(failure.message);
    const isLimit = failure.kind === 'context_overflow' || isRefused(answer);
    if (!isLimit || contextLength === null) return unknown(quoted(failure.message));
    return yes(quoted(failure.message), { value: `${contextLength} tokens`, facts: { contextLength } });
  },
};

const LIMIT_WORDS = [
  // OpenAI, vLLM, DeepSeek and most others; Anthropic; Gemini; llama.cpp; Groq (2026).
  /maximum context (?:length|window)[^\d]{0,40}(\d{3,8})/i,
  /> (\d{3,8}) maximum/i,
  /maximum number of tokens allowed[^\d]{0,20}(\d{3,8})/i,
  /available context size[^\d]{0,20}(\d{3,8})/i,
  /context (?:length|size|window|limit)[^\d]{0,20}(\d{3,8})/i,
];

function limitIn(message: string): number | null {
  const plain = message.replace(/(\d),(?=\d{3}\b)/g, '$1');
  for (const pattern of LIMIT_WORDS) {
    const found = Number(pattern.exec(plain)?.[1]);
    if (found > 0) return found;
  }
  return null;
}

export const placeProbes: readonly Probe[] = [modelsList, otherProtocols];
export const deepProbes: readonly Probe[] = [context];
