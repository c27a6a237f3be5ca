// Names that the Responses API has for members which reports name after Chat Completions (API reference, "Create a model
// response", 2026-11).
import type { ClientNames } from '../../canonical/index.ts';
import { TABLE } from './fields.ts';

export const CLIENT_NAMES: ClientNames = {
  ...TABLE.names,
  messages: ['input'],
  logprobs: ['include'],
  verbosity: ['text.verbosity'],
  response_format: ['text.format'],
  'response_format.json_schema': ['text.format'],
};
