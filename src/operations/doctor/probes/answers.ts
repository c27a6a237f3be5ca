// First probe: whether the endpoint is reachable, accepts the key, and which member limits its output. If it fails, no
// other probe runs.
import type { GatewayError, Quirks } from '../../../canonical/index.ts';
import { QUESTION_TOKENS, type Examination } from '../examination.ts';
import { no, unknown, yes, type Probe, type Verdict } from '../probe.ts';
import { isRefused, wordsOf, wordsOfFailure } from '../read-answer.ts';
import type { Task } from '../../../engine/index.ts';

export const ANSWERS = 'answers';
const HELLO = 'Say hello in one word.';

export const answers: Probe = {
  id: ANSWERS,
  title: 'reachable, key accepted',
  calls: 2,
  tokens: () => 2 * QUESTION_TOKENS,
  async run(examination) {
    const answer = await examination.ask({ text: HELLO });
    if (!answer.failure) return yes('responds');
    if (isRefused(answer)) {
      // Some servers know only one of the two names, and reject or ignore the other.
      const maxTokensField = otherField(examination);
      const again = await examination.ask({ text: HELLO, quirks: { maxTokensField } });
      if (!again.failure)
        return yes(`responds, but rejects the other name of the output limit: ${wordsOf(answer)}`, {
          facts: { quirks: { maxTokensField } },
        });
    }
    return failed(answer.failure, wordsOf(answer));
  },
};

/** The only probe for endpoints with a task other than text. */
export function doesTask({ ask, tokens }: NonNullable<Task['probe']>): Probe {
  return {
    id: ANSWERS,
    title: answers.title,
    calls: 1,
    tokens: () => tokens,
    async run({ endpoint, asking }) {
      const failure = await ask(endpoint, asking);
      return failure ? failed(failure, wordsOfFailure(failure)) : yes('responds');
    },
  };
}

function otherField({ quirks }: Examination): Quirks['maxTokensField'] {
  return quirks.maxTokensField === 'max_completion_tokens' ? 'max_tokens' : 'max_completion_tokens';
}

function failed(failure: GatewayError | null, words: string): Verdict {
  switch (failure?.kind) {
    case 'rate_limited':
    case 'quota':
      return unknown(`reachable, but does not respond: ${words}`);
    case 'authentication':
    case 'permission':
      return no(`key rejected: ${words}`);
    case 'not_found':
      return no(`model or address not found: ${words}`);
    case 'timeout':
      return no(`silent: ${words}`);
    default: {
      const status = failure?.upstream?.status;
      return status === undefined || status < 500 ? no(words) : unknown(`reachable, but failing: ${words}`);
    }
  }
}
