// Names that the Interactions API has for members which reports name after Chat Completions (API reference,
// `CreateModelInteraction`, 2026-11).
import type { ClientNames } from '../../canonical/index.ts';

export const CLIENT_NAMES: ClientNames = {
  messages: ['input'],
  max_completion_tokens: ['generation_config.max_output_tokens'],
};
