// Facts that a protocol has no place for, with the reason, read in its documentation (2026-11). Knows no gateway.
import type { Protocol } from './feature.ts';

interface Absence {
  readonly fact: RegExp;
  readonly reason: string;
}

/** Facts that a client cannot send. */
export const UNASKABLE: Readonly<Record<Protocol, readonly Absence[]>> = {
  'openai-chat': [
    { fact: /^failed result/, reason: 'Chat Completions marks no tool result as failed' },
    { fact: /^image in result/, reason: 'Chat Completions has only text in tool results' },
    { fact: /^sampling topK/, reason: 'Chat Completions has no `top_k`' },
    { fact: /^search in/, reason: 'Chat Completions has no domains of a search' },
    { fact: /^id of the user/, reason: 'the gateway takes no ids of users in Chat Completions' },
  ],
  'openai-responses': [
    { fact: /^failed result/, reason: 'Responses marks no tool result as failed' },
    { fact: /^(stop:|finish: sequence|stopped by)/, reason: 'Responses has no stop sequences' },
    { fact: /^audio/, reason: 'Responses takes no audio' },
    { fact: /^sampling (topK|seed|\w+Penalty)/, reason: 'Responses has only `temperature` and `top_p`' },
    { fact: /^cached to: tools/, reason: 'Responses marks no tool for the cache' },
  ],
  'anthropic-messages': [
    { fact: /^logprobs/, reason: 'Messages has no log probabilities' },
    { fact: /^audio/, reason: 'Messages takes no audio' },
    { fact: /^choice: \{"allowed/, reason: 'Messages has no list of allowed tools' },
    { fact: /^verbosity/, reason: 'Messages has no verbosity' },
    { fact: /^sampling (seed|\w+Penalty)/, reason: 'Messages has neither seeds nor penalties' },
  ],
  gemini: [
    { fact: /^pdf name/, reason: 'Gemini does not support file names' },
    { fact: /^instruction/, reason: 'Gemini has instructions for the whole conversation only' },
    { fact: /^one call/, reason: 'Gemini cannot be told to make one call at a time' },
    { fact: /^cached to/, reason: 'Gemini has no breakpoints' },
    { fact: /^id of the user/, reason: 'Gemini has no ids of users' },
    { fact: /^search (near|in)/, reason: "Google's search does not support this option" },
    { fact: /^verbosity/, reason: 'Gemini has no verbosity' },
  ],
};

/** Facts that an upstream cannot be asked: the gateway refuses such a request instead of leaving half of it out. */
export const UNTELLABLE: Readonly<Record<Protocol, readonly Absence[]>> = {
  'openai-chat': [],
  'openai-responses': [{ fact: /^audio/, reason: 'Responses takes no audio' }],
  'anthropic-messages': [{ fact: /^audio/, reason: 'Messages takes no audio' }],
  gemini: [],
};

/** Facts that an upstream cannot answer. */
export const UNSAYABLE: Readonly<Record<Protocol, readonly Absence[]>> = {
  'openai-chat': [
    { fact: /^(finish: sequence|stopped by)/, reason: 'Chat Completions says `stop` for a stop sequence' },
    { fact: /^(searched|found)/, reason: 'Chat Completions tells no searches' },
    { fact: /^finish: pause/, reason: 'Chat Completions has no word for a pause' },
  ],
  'openai-responses': [
    { fact: /^(finish: sequence|stopped by)/, reason: 'Responses has no stop sequences' },
    { fact: /^finish: pause/, reason: 'Responses has no word for a pause' },
  ],
  'anthropic-messages': [
    { fact: /^finish: filter/, reason: 'Messages has `refusal` for every answer that was held back' },
    { fact: /^token/, reason: 'Messages has no log probabilities' },
  ],
  gemini: [
    { fact: /^(refusal|finish: refusal)/, reason: 'Gemini has no refusals' },
    { fact: /^(finish: sequence|stopped by)/, reason: 'Gemini says `STOP` for a stop sequence' },
    { fact: /^usage written/, reason: 'Gemini counts no cache writes' },
    { fact: /^finish: pause/, reason: 'Gemini has no word for a pause' },
  ],
};

/** Facts that a client cannot receive. */
export const UNHEARABLE: Readonly<Record<Protocol, readonly Absence[]>> = {
  'openai-chat': [
    { fact: /^(finish: sequence|stopped by)/, reason: 'Chat Completions says `stop` for a stop sequence' },
    { fact: /^(searched|found)/, reason: 'Chat Completions tells no searches' },
    { fact: /^finish: pause/, reason: 'Chat Completions has no word for a pause' },
  ],
  'openai-responses': [
    { fact: /^(finish: sequence|stopped by)/, reason: 'Responses has no word for a stop sequence' },
    { fact: /^finish: pause/, reason: 'Responses has no word for a pause' },
  ],
  'anthropic-messages': [
    { fact: /^finish: filter/, reason: 'Messages has `refusal` for every answer that was held back' },
    { fact: /^token/, reason: 'Messages has no log probabilities' },
  ],
  gemini: [
    { fact: /^(refusal|finish: refusal)/, reason: 'Gemini has no refusals: the words come as text' },
    { fact: /^(finish: sequence|stopped by)/, reason: 'Gemini says `STOP` for a stop sequence' },
    {
      fact: /^usage written/,
      // As the gateway reports it, where its answer is whole.
      reason: 'responses of this protocol cannot contain the number of tokens written to a cache',
    },
    { fact: /^finish: pause/, reason: 'Gemini has no word for a pause' },
  ],
};
