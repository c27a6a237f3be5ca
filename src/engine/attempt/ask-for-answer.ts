// Sends one request to one endpoint exactly as given and collects the whole answer, for probes. Nothing is routed,
// emulated, retried or recorded.
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
import { joined } from '../../base/lib/bytes.ts';
import type { DurationMs } from '../../base/units.ts';

/** Maximum bytes of an answer to a probe. */
const MAX_BYTES = 1_048_576;

export interface AnswerAsking {
  readonly upstream: UpstreamClient;
  readonly clock: Clock;
  /** Timeout for the whole answer. */
  readonly timeoutMs: DurationMs;
  /** Masks secrets in the upstream's texts. */
  readonly redact: (text: string) => string;
}

export interface AskedAnswer {
  readonly collected: CollectedEvents;
  /** Reason why the answer is incomplete, without secrets. Null: it is complete. */
  readonly failure: GatewayError | null;
  /** True: the answer came as a stream. */
  readonly streamed: boolean;
  /** The raw body, for members that no codec decodes. */
  readonly text: string;
}

/**
 * Sends the request.
 * @param reasoning reasoning settings for the endpoint
 * @returns never rejects: failures are part of the result, `unsupported` for a request that could not be encoded
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
              // Some servers send everything and keep the connection open.
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
