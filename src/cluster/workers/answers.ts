// Answers under idempotency keys shared between workers, stored in the supervisor's memory.
import type {
  AnswerClaim,
  ClaimResult,
  AnswerStore,
  AnswerRead,
  Exchanged,
  AnswerUpdate,
} from '../exchange/index.ts';
import type { Channel } from './channel.ts';

const CLAIM = 'answers claim';
const EXCHANGE = 'answers exchange';

/** A worker's client for the supervisor's store. */
export class SupervisorAnswerStore implements AnswerStore {
  readonly #channel: Channel;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  claim(claim: AnswerClaim): Promise<ClaimResult> {
    return this.#channel.ask(CLAIM, claim) as Promise<ClaimResult>;
  }

  exchange(said: readonly AnswerUpdate[], asked: readonly AnswerRead[]): Promise<Exchanged> {
    return this.#channel.ask(EXCHANGE, { said, asked }) as Promise<Exchanged>;
  }
}

/** The supervisor's handlers for it. */
export function answerAnswers(store: AnswerStore): Readonly<Record<string, (input: unknown) => unknown>> {
  return {
    [CLAIM]: (claim) => store.claim(claim as AnswerClaim),
    [EXCHANGE]: (input) => {
      const { said, asked } = input as {
        readonly said: readonly AnswerUpdate[];
        readonly asked: readonly AnswerRead[];
      };
      return store.exchange(said, asked);
    },
  };
}
