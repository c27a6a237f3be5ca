// The tries of one request for embeddings. An upstream's answer is read as a whole: its vectors stand beside the
// canonical events, which carry what every attempt is judged and charged by.
import type { Embeddings, EmbeddingsRequest, EventSink, Usage } from '../canonical/index.ts';
import { GatewayError, NO_USAGE } from '../canonical/index.ts';
import type { Endpoint } from '../catalog/index.ts';
import { type EmbeddingsCodec, findProtocol, type Protocol } from '../protocols/index.ts';
import type { Candidate } from '../routing/index.ts';
import { newId } from '../runtime/ids.ts';
import { Attempt } from './attempt.ts';
import type { AttemptOutput } from './attempt-options.ts';
import type { FailedTry } from './failover.ts';
import { estimatedTokens } from './meter.ts';
import { refuseLosses } from './prepare.ts';
import type { RunningTry } from './race.ts';
import { TryRunner, type TryRunnerInput } from './try-runner.ts';
import { formatVectors } from './vector-format.ts';

export interface EmbeddingTriesInput extends TryRunnerInput {
  readonly asked: EmbeddingsRequest;
}

/** A protocol whose servers make embeddings. */
type EmbeddingProtocol = Protocol & { readonly embeddings: EmbeddingsCodec };

export class EmbeddingTries extends TryRunner {
  /** The answer, in the form that was asked for; undefined while there is none. */
  answer: (Embeddings & { readonly usage: Usage }) | undefined;
  readonly #input: EmbeddingTriesInput;

  constructor(input: EmbeddingTriesInput) {
    super(input);
    this.#input = input;
  }

  committed(): boolean {
    return this.answer !== undefined;
  }

  learn(): boolean {
    return false;
  }

  /** What is committed is complete. */
  resume(broken: FailedTry): Promise<GatewayError> {
    return Promise.resolve(broken.error);
  }

  protected start({ endpoint }: Candidate, claim: () => void): RunningTry {
    try {
      return this.#attempt(endpoint, claim);
    } catch (thrown) {
      return { done: Promise.resolve(GatewayError.from(thrown)), cancel: () => {} };
    }
  }

  #attempt(endpoint: Endpoint, claim: () => void): RunningTry {
    const { generation, asked, deps } = this.#input;
    const { clock, ticker, upstream, redact, routing } = deps;
    const protocol = embeddingProtocol(endpoint);
    const report = generation.report.fork();
    const body = JSON.stringify(protocol.embeddings.encodeRequest(asked, endpoint, report));
    if (generation.strict) refuseLosses(report);
    let answer: EmbeddingTries['answer'];
    const attempt: Attempt = new Attempt({
      id: `${generation.id}-${generation.attempts.length}`,
      generationId: generation.id,
      ordinal: generation.attempts.length,
      endpoint,
      path: protocol.embeddings.pathFor(endpoint.model),
      protocol: embedding(protocol, endpoint, (json, sink) => {
        const { vectors, usage } = protocol.embeddings.decodeResponse(json, asked.inputs.length);
        answer = {
          vectors: formatVectors(vectors, asked.format ?? 'float'),
          usage: usage ?? estimatedUsage(asked),
        };
        sink.on({ type: 'start' });
        sink.on({ type: 'usage', usage: answer.usage });
        sink.on({ type: 'finish', reason: 'stop' });
      }),
      lane: 'translate',
      report,
      stream: false,
      output: outputTo((by) => {
        this.answer = answer;
        generation.served = by;
        generation.report = by.report;
      }),
      wrap: (innermost) => innermost,
      relayFacts: { id: generation.id, model: endpoint.modelId, showUsage: true },
      tap: null,
      timeouts: generation.timeouts,
      deadlineAt: generation.deadlineAt,
      inputChars: generation.inputChars,
      clientHeaders: generation.call.headers,
      headerPrefix: undefined,
      context: { newId, nowSeconds: () => Math.floor(clock.now() / 1000) },
      lease: routing.begin(endpoint, false),
      claim,
      clock,
      ticker,
      upstream,
      redact,
    });
    generation.attempts.push(attempt);
    const done = attempt
      .run(Buffer.from(body).toString('latin1'))
      .then((result) => (result.type === 'failed' ? result.error : undefined));
    return { done, cancel: (reason) => attempt.cancel(reason) };
  }
}

function embeddingProtocol(endpoint: Endpoint): EmbeddingProtocol {
  const protocol = findProtocol(endpoint.protocol);
  if (protocol?.embeddings) return { ...protocol, embeddings: protocol.embeddings };
  throw new GatewayError(
    'unsupported',
    `${endpoint.slug} serves ${endpoint.model} over ${endpoint.protocol}, which has no embeddings`,
    { param: 'model' },
  );
}

/** The protocol as an attempt speaks it: the same errors and limits, another answer. */
function embedding(
  { name, upstream }: Protocol,
  endpoint: Endpoint,
  decode: (body: unknown, sink: EventSink) => void,
): Protocol {
  return {
    name,
    upstream: {
      ...upstream,
      decodeResponse: decode,
      decodeStream: () => {
        throw new GatewayError(
          'upstream_unavailable',
          `${endpoint.slug} streamed something instead of embeddings`,
        );
      },
    },
  };
}

/** An output for answers that come at once: only who made them matters. */
function outputTo(commit: (by: Attempt) => void): AttemptOutput {
  const nothing = (): void => {};
  return {
    commit,
    on: nothing,
    relay: nothing,
    relayWhole: nothing,
    finishing: nothing,
    flush: nothing,
  };
}

/** Tokens are counted exactly where the inputs are tokens already. */
function estimatedUsage({ inputs }: EmbeddingsRequest): Usage {
  const counts = inputs.map((input) =>
    typeof input === 'string' ? estimatedTokens(input.length) : input.length,
  );
  const uncached = counts.reduce((sum, count) => sum + count, 0);
  return { ...NO_USAGE, input: { ...NO_USAGE.input, uncached }, estimated: true };
}
