// The one way to ask an upstream: a request, signed where no fixed header proves who sends it, and its answer, decoded and
// bounded, in pieces as they come or whole.
import type { UpstreamCall, UpstreamListener, UpstreamRequest } from './client.ts';
import type { Credential } from './credential.ts';
import { type AnswerListener, collect, type Collecting, receive, type ReceiveFailure } from './receive.ts';
import { SignedCall, type Signing, type TimedSender } from './signed-call.ts';

export interface Question extends UpstreamRequest {
  /** Most bytes of the answer, as they come and as they are read. */
  readonly maxBytes: number;
  /** Signs the request. Absent: its headers are all that it needs. */
  readonly credential?: Credential | undefined;
}

/** Takes an answer in pieces. */
export interface AnswerTaker extends AnswerListener<[failure: ReceiveFailure, message: string]>, Signing {}

type Send = (listener: UpstreamListener) => UpstreamCall;

/**
 * Asks.
 * @param client whose connections are used. One that signs nothing needs no clock
 * @param between stands between the connection and the answer. Absent: nothing does
 * @throws GatewayError where it can be told at once that there is no signature; TypeError for a URL that is none
 */
export function ask(
  question: Question,
  client: TimedSender,
  taker: AnswerTaker,
  between: (listener: UpstreamListener, send: Send) => UpstreamCall = (listener, send) => send(listener),
): UpstreamCall {
  const { credential, maxBytes } = question;
  const send: Send = credential
    ? (listener) => SignedCall.start(question, credential, client, listener, taker)
    : (listener) => client.send(question, listener);
  return receive((listener) => between(listener, send), taker, maxBytes);
}

/** Failure of a whole answer: `signature`, there was none. */
export type WholeFailure = [failure: ReceiveFailure | 'signature', message: string];

/** Asks for an answer that is taken as a whole. Throws what `ask` throws. */
export function askWhole(question: Question, client: TimedSender): Collecting<WholeFailure> {
  return collect<WholeFailure>((taker) =>
    ask(question, client, {
      ...taker,
      refused: ({ message }) => taker.failed('signature', message),
    }),
  );
}
