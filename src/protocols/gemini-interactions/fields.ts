// Gateway options in a request for an interaction. All other members are forwarded, and Google validates them.
import type { ClientNames } from '../../canonical/index.ts';
import { gatewayFields } from '../members/shared-fields.ts';

/** Gateway options, which Google refuses. */
export const GATEWAY_KEYS: ReadonlySet<string> = new Set(gatewayFields('').map(({ name }) => name));

/**
 * Names in the Interactions API of members for which reports use the names of Chat Completions (API reference,
 * `CreateModelInteraction`, 2026-11).
 */
export const CLIENT_NAMES: ClientNames = {
  messages: ['input'],
  max_completion_tokens: ['generation_config.max_output_tokens'],
};
