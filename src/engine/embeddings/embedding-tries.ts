// The tries of one request for embeddings. An upstream's answer is read as a whole: its vectors stand beside the
// canonical events, which carry what every attempt is judged and charged by.
import type {
  CanonicalRequest,
  Embeddings,
  EmbeddingsRequest,
  EventSink,
  Report,
  Usage,
} from '../../canonical/index.ts';
import { GatewayError, inputTokens, NO_USAGE } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { estimatedTokens } from '../../ledger/index.ts';
import { type EmbeddingsCodec, findProtocol, type Protocol } from '../../protocols/index.ts';
import type { Candidate } from '../../routing/index.ts';
import {
  Attempt,
  type AttemptOutput,
  type PreparedAttempt,
  refuseLosses,
  runAttempt,
} from '../attempt/index.ts';
import { type FailedTry, type RunningTry, TryRunner, type TryRunnerInput } from '../failover/index.ts';
import { runParts } from './run-parts.ts';
import { operationPath } from '../prepared-endpoint.ts';
import { formatVectors } from './vector-format.ts';

export interface EmbeddingTriesInput extends TryRunnerInput {
  /** The whole of what is asked. */
  readonly request: CanonicalRequest;
  /** Never empty. */
  readonly asked: readonly EmbeddingsRequest[];
}

type PartAnswer = Embeddings & { readonly usage: Usage };

/** A protocol whose servers make embeddings. */
type EmbeddingProtocol = Protocol & { readonly embeddings: EmbeddingsCodec };

export class EmbeddingTries extends TryRunner {
  /** The answer, in the form that was asked for; undefined while there is none. */
  answer: PartAnswer | undefined;
  readonly #input: EmbeddingTriesInput;

  constructor(input: EmbeddingTriesInput) {
    super(input);
    this.#input = input;
  }

  committed(): boolean {
    return this.answer !== undefined;
  }

  protected neededTokens(): number {
    return this.#input.asked.reduce((sum, part) => sum + inputTokens(estimatedUsage(part)), 0);
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

  /** As many upstream requests as the model needs for all inputs. */
  #attempt(endpoint: Endpoint, claim: () => void): RunningTry {
    const { generation, asked } = this.#input;
    const protocol = embeddingProtocol(endpoint);
    const report = generation.report.fork();
    const most = protocol.embeddings.mostInputs?.(endpoint.model);
    const parts = asked
      .flatMap((one) => partsOf(one, most))
      .map((part) => {
        const body = protocol.embeddings.encodeRequest(part, endpoint, report);
        return { part, body: JSON.stringify(body) };
      });
    if (generation.strict) refuseLosses(report);
    const answered: { readonly by: Attempt; readonly answer: PartAnswer }[] = [];
    let missing = parts.length;
    return runParts(parts.length, (place) => {
      const { part, body } = parts[place] as (typeof parts)[number];
      return this.#part(endpoint, protocol, { part, body, report }, (by, answer) => {
        answered[place] = { by, answer };
        if (--missing > 0) return;
        claim();
        this.answer = joined(answered.map((each) => each.answer));
        generation.served = by;
        generation.earlier.push(...answered.map((each) => each.by).filter((each) => each !== by));
        generation.report = report;
      });
    });
  }

  #part(
    endpoint: Endpoint,
    protocol: EmbeddingProtocol,
    { part, body, report }: { part: EmbeddingsRequest; body: string; report: Report },
    commit: (by: Attempt, answer: PartAnswer) => void,
  ): RunningTry {
    const { generation, deps, request } = this.#input;
    let answer: PartAnswer | undefined;
    let attempt: Attempt | undefined;
    let isOver = false;
    const prepared: PreparedAttempt = {
      endpoint,
      path: operationPath(
        endpoint,
        protocol.embeddings.pathFor(endpoint.model),
        endpoint.hosting?.embeddings,
      ),
      protocol: embedding(protocol, endpoint, (json, sink) => {
        const { vectors, usage } = protocol.embeddings.decodeResponse(json, part.inputs.length);
        answer = {
          vectors: formatVectors(vectors, part.format ?? 'float'),
          usage: usage ?? estimatedUsage(part),
        };
        sink.on({ type: 'start' });
        sink.on({ type: 'usage', usage: answer.usage });
        sink.on({ type: 'finish', reason: 'stop' });
      }),
      lane: 'translate',
      request,
      body: Buffer.from(body).toString('latin1'),
      report,
      isListPriced: true,
      passedHeaders: undefined,
      wrap: (innermost) => innermost,
      estimateInput: () => estimatedUsage(part).input.uncached,
    };
    const output = outputTo((by) => {
      if (answer) commit(by, answer);
    });
    const start = (fresh: boolean): Attempt => {
      attempt = new Attempt(
        {
          requester: generation,
          ordinal: generation.attempts.length,
          prepared,
          output,
          fresh,
          collects: false,
        },
        deps,
      );
      generation.attempts.push(attempt);
      return attempt;
    };
    const done = runAttempt(start, () => isOver);
    const cancel = (reason: GatewayError): void => {
      isOver = true;
      attempt?.cancel(reason);
    };
    return { done, cancel };
  }
}

/** Who makes embeddings in this protocol for its owner may do it in another form, or not at all. */
function embeddingProtocol(endpoint: Endpoint): EmbeddingProtocol {
  const protocol = findProtocol(endpoint.protocol);
  const { hosting } = endpoint;
  const embeddings =
    hosting === undefined
      ? protocol?.embeddings
      : hosting.embeddings && (protocol?.hosted?.embeddings ?? protocol?.embeddings);
  if (protocol && embeddings) return { ...protocol, embeddings };
  throw new GatewayError(
    'unsupported',
    `${endpoint.slug} serves ${endpoint.model} over ${endpoint.protocol}, which has no embeddings` +
      (protocol?.embeddings ? ' there' : ''),
    { param: 'model' },
  );
}

/** The request in parts of so many inputs; itself where it is small enough. */
function partsOf(asked: EmbeddingsRequest, most = asked.inputs.length): readonly EmbeddingsRequest[] {
  const { inputs, notes } = asked;
  if (inputs.length <= most) return [asked];
  const count = Math.ceil(inputs.length / most);
  return Array.from({ length: count }, (_, place) => ({
    ...asked,
    inputs: inputs.slice(place * most, (place + 1) * most),
    notes: notes?.slice(place * most, (place + 1) * most),
  }));
}

/** Embeddings are counted by their input alone. */
function joined(answers: readonly PartAnswer[]): PartAnswer {
  const [only] = answers;
  if (only && answers.length === 1) return only;
  const uncached = answers.reduce((sum, { usage }) => sum + usage.input.uncached, 0);
  return {
    vectors: answers.flatMap(({ vectors }) => vectors),
    usage: {
      ...NO_USAGE,
      input: { ...NO_USAGE.input, uncached },
      estimated: answers.some(({ usage }) => usage.estimated),
    },
  };
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
    keeps: true,
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
