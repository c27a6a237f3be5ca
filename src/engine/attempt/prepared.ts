// A request as one endpoint is sent it, ready to go: which lane, which bytes, and the sinks that its answer needs.
import type { Slices } from '../../base/lib/slices.ts';
import type { CanonicalRequest, EventSink, Report } from '../../canonical/index.ts';
import { type Endpoint, isListPriced } from '../../catalog/index.ts';
import { estimatedInputTokens, type Lane } from '../../accounts/ledger/index.ts';
import type { Protocol } from '../../protocols/index.ts';
import {
  type AnswerCheck,
  customToolNames,
  CustomToolRestorer,
  LimitWatch,
  ReasoningStamp,
  SingleCall,
  StopCutter,
  type WatchedLimit,
} from '../adapt/index.ts';
import type { EstimatedPrompt } from './meter.ts';

/** One request to one endpoint, and what its answer needs. */
export interface PreparedAttempt extends EstimatedPrompt {
  readonly endpoint: Endpoint;
  readonly protocol: Protocol;
  /** Path below the endpoint's base URL; absent: where the protocol has its answers made. */
  readonly path?: string | undefined;
  /** Media type of the body. Absent: JSON. */
  readonly type?: string | undefined;
  readonly lane: Lane;
  /** The request in canonical form. */
  readonly request: CanonicalRequest;
  /** Emptied once an answer has begun, when nobody can need it again. */
  body: Slices;
  /** Losses of the body: dropped, approximated or defaulted members. */
  readonly report: Report;
  /** False: what it costs is unknown, for another price was asked for than the one that is known. */
  readonly isListPriced: boolean;
  /** Names of the client's request headers that go on; undefined when none do. */
  readonly passedHeaders: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  /** Wraps the innermost sink with those the request needs (stop, custom tools, stamps). `cut` ends the answer early. */
  wrap(innermost: EventSink, cut: (stopSequence: string) => void): EventSink;
}

/** Findings about a request on its way to an endpoint. */
export interface Preparation extends Pick<
  PreparedAttempt,
  'endpoint' | 'protocol' | 'lane' | 'report' | 'passedHeaders'
> {
  /** Checks that the answer must pass before the client gets it; usually none. */
  readonly checks: readonly AnswerCheck[];
  /** As the client meant it. */
  readonly meant: CanonicalRequest;
  /** As the endpoint's model can take it, before a format was told in words. */
  readonly fitting: CanonicalRequest;
  /** Stop sequences that the upstream does not take. */
  readonly cutAt: readonly string[];
  /** Gives names that had to be changed back to the client. */
  readonly restore: ((next: EventSink) => EventSink) | null;
  /** The output limit, where it is worth a look whether the server obeys it; null elsewhere. */
  readonly watched: WatchedLimit | null;
}

/** A request for text. */
export class PreparedText implements PreparedAttempt {
  readonly endpoint: Endpoint;
  readonly protocol: Protocol;
  readonly lane: Lane;
  readonly report: Report;
  readonly checks: readonly AnswerCheck[];
  readonly passedHeaders: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  readonly isListPriced: boolean;
  readonly request: CanonicalRequest;
  body: Slices;
  readonly #preparation: Preparation;

  /**
   * @param request what is asked in the end
   * @param body the same as the endpoint gets it
   */
  constructor(preparation: Preparation, request: CanonicalRequest, body: Slices) {
    const { endpoint, protocol, lane, report, checks, passedHeaders, meant } = preparation;
    this.#preparation = preparation;
    this.endpoint = endpoint;
    this.protocol = protocol;
    this.lane = lane;
    this.report = report;
    this.checks = checks;
    this.passedHeaders = passedHeaders;
    this.isListPriced = isListPriced(meant, endpoint);
    this.request = request;
    this.body = body;
  }

  /** The same preparation for another request of the same shape. */
  asking(request: CanonicalRequest, body: Slices): PreparedText {
    return new PreparedText(this.#preparation, request, body);
  }

  estimateInput(): number {
    return estimatedInputTokens(this.request);
  }

  wrap(innermost: EventSink, cut: (stopSequence: string) => void): EventSink {
    const { endpoint, meant, fitting, cutAt, restore, watched } = this.#preparation;
    let sink = innermost;
    if (cutAt.length > 0) {
      const cutter: StopCutter = new StopCutter(sink, cutAt, () => cut(cutter.matched ?? ''));
      sink = cutter;
    }
    if (restore) sink = restore(sink);
    // Among calls of functions: what they are restored to may be no call any more.
    if (meant.parallelToolCalls === false) sink = new SingleCall(sink);
    const customTools = fitting.tools.length > 0 && customToolNames(fitting);
    if (customTools && customTools.size > 0) sink = new CustomToolRestorer(sink, customTools);
    if (watched) sink = new LimitWatch(sink, watched);
    if (endpoint.reasoningFormat !== null) sink = new ReasoningStamp(sink, endpoint.reasoningFormat);
    return sink;
  }
}
