// The members of a request for an interaction that are the gateway's own. All others go on; Google judges them.
import type { ClientNames } from '../../canonical/index.ts';
import { gatewayFields } from '../members/shared-fields.ts';

/** Members that steer the gateway, which Google refuses. */
export const GATEWAY_KEYS: ReadonlySet<string> = new Set(gatewayFields('').map(({ name }) => name));

/**
 * Names that the Interactions API has for members which reports name after Chat Completions (API reference,
 * `CreateModelInteraction`, 2026-11).
 */
export const CLIENT_NAMES: ClientNames = {
  messages: ['input'],
  max_completion_tokens: ['generation_config.max_output_tokens'],
};
