// A request prepared for one endpoint: lane, bytes, and the sinks that its answer needs.
import type { Slices } from '../../base/lib/bytes.ts';
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
  UnwantedReasoningWatch,
  type WatchedLimit,
} from '../adapt/index.ts';
import type { EstimatedPrompt } from './meter.ts';

/** One request to one endpoint, and how to read its answer. */
export interface PreparedAttempt extends EstimatedPrompt {
  readonly endpoint: Endpoint;
  readonly protocol: Protocol;
  /** Path below the endpoint's base URL. Absent: the protocol's default path for answers. */
  readonly path?: string | undefined;
  /** Media type of the body. Absent: JSON. */
  readonly type?: string | undefined;
  readonly lane: Lane;
  /** The request in canonical form. */
  readonly request: CanonicalRequest;
  /** Emptied once an answer has begun, because it cannot be needed again. */
  body: Slices;
  /** Losses of the body: dropped, approximated or defaulted members. */
  readonly report: Report;
  /** False: the cost is unknown, because the request asks for a different price than the listed one. */
  readonly isListPriced: boolean;
  /** Names of the client's request headers to pass on. Undefined: none. */
  readonly passedHeaders: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  /**
   * Wraps the innermost sink with those that the request needs (stop, custom tools, stamps). `cut` ends the answer
   * early.
   */
  wrap(innermost: EventSink, cut: (stopSequence: string) => void): EventSink;
}

/** Intermediate results of preparing a request for an endpoint. */
export interface Preparation extends Pick<
  PreparedAttempt,
  'endpoint' | 'protocol' | 'lane' | 'report' | 'passedHeaders'
> {
  /** Checks that the answer must pass before the client gets it; usually none. */
  readonly checks: readonly AnswerCheck[];
  /** The request as the client meant it. */
  readonly meant: CanonicalRequest;
  /** The request as the endpoint's model supports it, before format instructions were added. */
  readonly fitting: CanonicalRequest;
  /** Stop sequences that the upstream does not accept. */
  readonly cutAt: readonly string[];
  /** Restores names that had to be changed. Null: none. */
  readonly restore: ((next: EventSink) => EventSink) | null;
  /** The output limit, if the server may ignore it. Null: it is trusted. */
  readonly watched: WatchedLimit | null;
  /** Called once if the answer contains reasoning. Null: it may. */
  readonly reasoned: (() => void) | null;
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

  /** @param request the final request @param body its encoding for the endpoint */
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

  /** The same preparation for another request of the same form. */
  asking(request: CanonicalRequest, body: Slices): PreparedText {
    return new PreparedText(this.#preparation, request, body);
  }

  estimateInput(): number {
    return estimatedInputTokens(this.request);
  }

  wrap(innermost: EventSink, cut: (stopSequence: string) => void): EventSink {
    const { endpoint, meant, fitting, cutAt, restore, watched, reasoned } = this.#preparation;
    let sink = innermost;
    if (cutAt.length > 0) {
      const cutter: StopCutter = new StopCutter(sink, cutAt, () => cut(cutter.matched ?? ''));
      sink = cutter;
    }
    if (restore) sink = restore(sink);
    // Applied to function calls, because restored custom calls may no longer be calls.
    if (meant.parallelToolCalls === false) sink = new SingleCall(sink);
    const customTools = fitting.tools.length > 0 && customToolNames(fitting);
    if (customTools && customTools.size > 0) sink = new CustomToolRestorer(sink, customTools);
    if (watched) sink = new LimitWatch(sink, watched);
    if (reasoned) sink = new UnwantedReasoningWatch(sink, reasoned);
    if (endpoint.reasoningFormat !== null) sink = new ReasoningStamp(sink, endpoint.reasoningFormat);
    return sink;
  }
}
