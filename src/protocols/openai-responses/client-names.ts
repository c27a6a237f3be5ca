// What clients of the Responses API call what reports name after Chat Completions (API reference, "Create a model
// response", 2026-11).
import type { ClientNames } from '../../canonical/index.ts';

export const CLIENT_NAMES: ClientNames = {
  messages: ['input'],
  max_completion_tokens: ['max_output_tokens'],
  logprobs: ['include'],
  verbosity: ['text.verbosity'],
  response_format: ['text.format'],
  'response_format.json_schema': ['text.format'],
};
