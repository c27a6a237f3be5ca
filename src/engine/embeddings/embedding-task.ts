// A request for embeddings, as it is tried at one candidate after the other. An upstream's answer is read as a whole: its vectors stand beside the
// canonical events, which carry what every attempt is judged and charged by.
import type { Embeddings, EmbeddingsRequest, EventSink, Report, Usage } from '../../canonical/index.ts';
import { GatewayError, inputTokens, NO_USAGE } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { estimatedTokens } from '../../ledger/index.ts';
import { type EmbeddingsCodec, findProtocol, type Protocol } from '../../protocols/index.ts';
import type { Candidate } from '../../routing/index.ts';
import {
  type Attempt,
  type AttemptOutput,
  type PreparedAttempt,
  refuseLosses,
  runAttempt,
} from '../attempt/index.ts';
import type { Planned } from '../admit/index.ts';
import type { Cancellation } from '../cancellation.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Task, TryTerms } from '../failover/index.ts';
import type { Trail } from '../trail.ts';
import { runParts } from './run-parts.ts';
import { operationPath } from '../prepared-endpoint.ts';
import { formatVectors } from './vector-format.ts';
import { toByteString } from '../../lib/byte-string.ts';

export interface EmbeddingInput {
  readonly planned: Planned;
  readonly trail: Trail;
  readonly deps: GatewayDependencies;
  /** Never empty. */
  readonly asked: readonly EmbeddingsRequest[];
}

/** A complete answer, in the form that was asked for. */
export interface EmbeddingAnswer extends PartAnswer {
  /** Who made its parts, in their order. */
  readonly by: readonly [Attempt, ...Attempt[]];
  /** What was lost on the way. */
  readonly report: Report;
}

type PartAnswer = Embeddings & { readonly usage: Usage };

/** A protocol whose servers make embeddings. */
type EmbeddingProtocol = Protocol & { readonly embeddings: EmbeddingsCodec };

/** One upstream request of a try. */
interface PartTry {
  /** Among all of the try. */
  readonly place: number;
  readonly part: EmbeddingsRequest;
  readonly body: string;
  readonly endpoint: Endpoint;
  readonly protocol: EmbeddingProtocol;
  readonly report: Report;
}

export class EmbeddingTask implements Task {
  readonly #input: EmbeddingInput;
  #answer: EmbeddingAnswer | undefined;

  constructor(input: EmbeddingInput) {
    this.#input = input;
  }

  /** Undefined while there is none. */
  get answer(): EmbeddingAnswer | undefined {
    return this.#answer;
  }

  get committed(): boolean {
    return this.#answer !== undefined;
  }

  neededTokens(): number {
    return inputTokensOf(this.#input.asked);
  }

  learn(): boolean {
    return false;
  }

  /** What is committed is complete. */
  resume(_: Candidate, error: GatewayError): Promise<GatewayError> {
    return Promise.resolve(error);
  }

  /** As many upstream requests as the model needs for all inputs. */
  async try({ endpoint }: Candidate, { cancellation, claim }: TryTerms): Promise<GatewayError | undefined> {
    const { planned, asked } = this.#input;
    const protocol = embeddingProtocol(endpoint);
    const report = planned.request.report.fork();
    const most = protocol.embeddings.mostInputs?.(endpoint.model);
    const parts = asked
      .flatMap((one) => partsOf(one, most))
      .map((part, place): PartTry => {
        const body = JSON.stringify(protocol.embeddings.encodeRequest(part, endpoint, report));
        return { place, part, body, endpoint, protocol, report };
      });
    if (planned.strict) refuseLosses(report);
    const answered: { readonly by: Attempt; readonly answer: PartAnswer }[] = [];
    let missing = parts.length;
    return runParts(parts, cancellation, (one, own) =>
      this.#part(one, own, (by, answer) => {
        answered[one.place] = { by, answer };
        if (--missing > 0) return;
        claim?.();
        const [first = by, ...others] = answered.map((each) => each.by);
        this.#answer = { ...joined(answered.map((each) => each.answer)), by: [first, ...others], report };
      }),
    );
  }

  async #part(
    { part, body, endpoint, protocol, report }: PartTry,
    cancellation: Cancellation,
    commit: (by: Attempt, answer: PartAnswer) => void,
  ): Promise<GatewayError | undefined> {
    const { planned, trail, deps } = this.#input;
    const { request } = planned;
    let answer: PartAnswer | undefined;
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
      body: toByteString(body),
      report,
      isListPriced: true,
      passedHeaders: undefined,
      wrap: (innermost) => innermost,
      estimateInput: () => estimatedUsage(part).input.uncached,
    };
    const output = outputTo((by) => {
      if (answer) commit(by, answer);
    });
    const input = { requester: planned, prepared, output, collects: false };
    const { failure } = await runAttempt(input, trail, cancellation, deps);
    return failure;
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

/** Tokens of all inputs, by estimate. */
export function inputTokensOf(asked: readonly EmbeddingsRequest[]): number {
  return asked.reduce((sum, part) => sum + inputTokens(estimatedUsage(part)), 0);
}

/** Tokens are counted exactly where the inputs are tokens already. */
function estimatedUsage({ inputs }: EmbeddingsRequest): Usage {
  const counts = inputs.map((input) =>
    typeof input === 'string' ? estimatedTokens(input.length) : input.length,
  );
  const uncached = counts.reduce((sum, count) => sum + count, 0);
  return { ...NO_USAGE, input: { ...NO_USAGE.input, uncached }, estimated: true };
}
