// Facts that a protocol cannot express, with the reason, from its documentation (2026-11). Independent of the gateway.
import type { Protocol } from './feature.ts';

interface Absence {
  readonly fact: RegExp;
  readonly reason: string;
}

/** Facts that a client cannot send. */
export const UNSENDABLE_BY_CLIENT: Readonly<Record<Protocol, readonly Absence[]>> = {
  'openai-chat': [
    { fact: /^failed result/, reason: 'Chat Completions cannot mark a tool result as failed' },
    { fact: /^image in result/, reason: 'Chat Completions allows only text in tool results' },
    { fact: /^sampling topK/, reason: 'Chat Completions does not support `top_k`' },
    { fact: /^search in/, reason: 'Chat Completions cannot limit a search to domains' },
    { fact: /^id of the user/, reason: 'the gateway does not read user ids in Chat Completions' },
  ],
  'openai-responses': [
    { fact: /^failed result/, reason: 'Responses cannot mark a tool result as failed' },
    { fact: /^(stop:|finish: sequence|stopped by)/, reason: 'Responses does not support stop sequences' },
    { fact: /^audio/, reason: 'Responses does not support audio input' },
    { fact: /^sampling (topK|seed|\w+Penalty)/, reason: 'Responses supports only `temperature` and `top_p`' },
    { fact: /^cached to: tools/, reason: 'Responses does not support cache breakpoints on tools' },
  ],
  'anthropic-messages': [
    { fact: /^logprobs/, reason: 'Messages does not support log probabilities' },
    { fact: /^audio/, reason: 'Messages does not support audio input' },
    { fact: /^choice: \{"allowed/, reason: 'Messages does not support a list of allowed tools' },
    { fact: /^verbosity/, reason: 'Messages does not support verbosity' },
    { fact: /^sampling (seed|\w+Penalty)/, reason: 'Messages does not support seeds or penalties' },
  ],
  gemini: [
    { fact: /^pdf name/, reason: 'Gemini does not support file names' },
    { fact: /^instruction/, reason: 'Gemini supports instructions only for the whole conversation' },
    { fact: /^one call/, reason: 'Gemini cannot be limited to one tool call at a time' },
    { fact: /^cached to/, reason: 'Gemini does not support cache breakpoints' },
    { fact: /^id of the user/, reason: 'Gemini does not support user ids' },
    { fact: /^search (near|in)/, reason: "Google's search does not support this option" },
    { fact: /^verbosity/, reason: 'Gemini does not support verbosity' },
  ],
};

/** Facts that an upstream cannot receive. The gateway refuses such a request instead of dropping a part of it. */
export const UNSENDABLE_TO_UPSTREAM: Readonly<Record<Protocol, readonly Absence[]>> = {
  'openai-chat': [],
  'openai-responses': [{ fact: /^audio/, reason: 'Responses does not support audio input' }],
  'anthropic-messages': [{ fact: /^audio/, reason: 'Messages does not support audio input' }],
  gemini: [],
};

/** Facts that an upstream cannot send. */
export const UNSENDABLE_BY_UPSTREAM: Readonly<Record<Protocol, readonly Absence[]>> = {
  'openai-chat': [
    { fact: /^(finish: sequence|stopped by)/, reason: 'Chat Completions reports a stop sequence as `stop`' },
    { fact: /^(searched|found)/, reason: 'Chat Completions does not report searches' },
    { fact: /^finish: pause/, reason: 'Chat Completions has no finish reason for a pause' },
  ],
  'openai-responses': [
    { fact: /^(finish: sequence|stopped by)/, reason: 'Responses does not support stop sequences' },
    { fact: /^finish: pause/, reason: 'Responses has no status for a pause' },
  ],
  'anthropic-messages': [
    { fact: /^finish: filter/, reason: 'Messages reports every blocked response as `refusal`' },
    { fact: /^token/, reason: 'Messages does not support log probabilities' },
  ],
  gemini: [
    { fact: /^(refusal|finish: refusal)/, reason: 'Gemini has no refusals' },
    { fact: /^(finish: sequence|stopped by)/, reason: 'Gemini reports a stop sequence as `STOP`' },
    { fact: /^usage written/, reason: 'Gemini does not count cache writes' },
    { fact: /^finish: pause/, reason: 'Gemini has no finish reason for a pause' },
  ],
};

/** Facts that a client cannot receive. */
export const UNSENDABLE_TO_CLIENT: Readonly<Record<Protocol, readonly Absence[]>> = {
  'openai-chat': [
    { fact: /^(finish: sequence|stopped by)/, reason: 'Chat Completions reports a stop sequence as `stop`' },
    { fact: /^(searched|found)/, reason: 'Chat Completions does not report searches' },
    { fact: /^finish: pause/, reason: 'Chat Completions has no finish reason for a pause' },
  ],
  'openai-responses': [
    { fact: /^(finish: sequence|stopped by)/, reason: 'Responses does not report the matched stop sequence' },
    { fact: /^finish: pause/, reason: 'Responses has no status for a pause' },
  ],
  'anthropic-messages': [
    { fact: /^finish: filter/, reason: 'Messages reports every blocked response as `refusal`' },
    { fact: /^token/, reason: 'Messages does not support log probabilities' },
  ],
  gemini: [
    {
      fact: /^(refusal|finish: refusal)/,
      reason: 'Gemini has no refusals; the text of a refusal is sent as content',
    },
    { fact: /^(finish: sequence|stopped by)/, reason: 'Gemini reports a stop sequence as `STOP`' },
    {
      fact: /^usage written/,
      // Same text as in the gateway's report of a response that is not streamed.
      reason: 'responses of this protocol cannot contain the number of tokens written to a cache',
    },
    { fact: /^finish: pause/, reason: 'Gemini has no finish reason for a pause' },
  ],
};
