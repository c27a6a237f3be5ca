// One request to one endpoint, exactly as given, and its whole answer: for whoever examines an endpoint. Nothing is
// routed, emulated, repeated or recorded. What the request is for is the asker's business.
import type { Endpoint } from '../../catalog/index.ts';
import {
  type CanonicalRequest,
  type CollectedEvents,
  Collector,
  type EventSink,
  GatewayError,
  Report,
  type ResolvedReasoning,
  TEXTS,
} from '../../canonical/index.ts';
import { findProtocol } from '../../protocols/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { newId } from '../../base/runtime/ids.ts';
import type { UpstreamCall, UpstreamClient } from '../../upstream/client.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';
import { errorReader, streamReader, wholeReader, type AnswerReader } from './answer-reader.ts';
import { isStreamed, unframed } from './event-reader.ts';
import { preparedEndpoint } from '../prepared-endpoint.ts';
import { encodeBody, targetOf } from './prepare.ts';
import { receiveError, redactedError } from './error-words.ts';
import { askEndpoint } from './ask-endpoint.ts';
import { joined } from '../../base/lib/slices.ts';
import type { DurationMs } from '../../base/units.ts';

/** A longer answer is none to a small question, in bytes. */
const MAX_BYTES = 1_048_576;

export interface AnswerAsking {
  readonly upstream: UpstreamClient;
  readonly clock: Clock;
  /** How long the whole answer may take. */
  readonly timeoutMs: DurationMs;
  /** Masks secrets in what the upstream said. */
  readonly redact: (text: string) => string;
}

export interface AskedAnswer {
  readonly collected: CollectedEvents;
  /** Why there is no complete answer, without secrets; null when there is one. */
  readonly failure: GatewayError | null;
  /** True: the answer came as a stream. */
  readonly streamed: boolean;
  /** The body as it came: for members that no codec decodes. */
  readonly text: string;
}

/**
 * Asks.
 * @param reasoning what the endpoint is told about reasoning
 * @returns never rejects: failures are part of the answer, `unsupported` for a request that could not even be written
 */
export function askForAnswer(
  endpoint: Endpoint,
  request: CanonicalRequest,
  reasoning: ResolvedReasoning,
  asking: AnswerAsking,
): Promise<AskedAnswer> {
  const protocol = findProtocol(endpoint.protocol);
  if (!protocol) throw new TypeError(TEXTS.notImplemented(endpoint.protocol));
  const codec = protocol.upstream;
  return new Promise((resolve) => {
    const collector = new Collector();
    let hasEnded = false;
    const sink: EventSink = {
      on(event) {
        collector.on(event);
        hasEnded ||= event.type === 'finish' || event.type === 'error';
      },
    };
    let call: UpstreamCall | undefined;
    let reader: AnswerReader | undefined;
    const pieces: Buffer[] = [];
    let streamed = false;
    let isOver = false;

    const done = (thrown: unknown): void => {
      if (isOver) return;
      isOver = true;
      cancelTimer();
      call?.abort();
      const collected = collector.result();
      const found = thrown ?? collected.error ?? (collected.finish ? null : NO_ANSWER);
      resolve({
        collected,
        failure: found === null ? null : redactedError(GatewayError.from(found), asking.redact),
        streamed,
        text: joined(pieces).toString(),
      });
    };
    const guard = (run: () => void): void => {
      if (isOver) return;
      try {
        run();
      } catch (error) {
        done(error);
      }
    };
    const cancelTimer = asking.clock.after(asking.timeoutMs, () =>
      done(new GatewayError('timeout', TEXTS.timedOut(asking.timeoutMs))),
    );

    const readerFor = (head: ResponseHead): AnswerReader => {
      if (head.status >= 300)
        return errorReader((text) => {
          throw codec.decodeError(head.status, (name) => head.header(name), text);
        });
      streamed = isStreamed(head.header('content-type'));
      const context = { newId, nowSeconds: () => Math.floor(asking.clock.wall() / 1000) };
      return streamed ? streamReader(codec, sink, context) : wholeReader(codec, sink, context);
    };

    guard(() => {
      const outgoing = {
        envelope: preparedEndpoint(endpoint).answers(request.stream, NO_CLIENT),
        body: encodeBody(protocol, request, targetOf(endpoint, reasoning), new Report()),
      };
      call = askEndpoint(
        endpoint,
        outgoing,
        asking.upstream,
        {
          refused: done,
          head: (head) => guard(() => (reader = unframed(readerFor(head), head, codec))),
          data: (piece) =>
            guard(() => {
              pieces.push(piece);
              reader?.data(piece);
              // Some servers say all and keep the connection open.
              if (hasEnded) done(null);
            }),
          end: () =>
            guard(() => {
              reader?.end();
              done(null);
            }),
          failed: (failure, message) => done(receiveError(endpoint.slug, failure, message)),
        },
        MAX_BYTES,
      );
      if (isOver) call.abort();
    });
  });
}

const NO_CLIENT = { headers: [], names: undefined };
const NO_ANSWER = new GatewayError('upstream_unavailable', TEXTS.incomplete);
