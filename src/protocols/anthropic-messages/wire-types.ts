// The words of the Messages API that our tables must cover, taken from the official SDK's types so that a new
// word breaks the type check. Types only: knows nothing of the canonical model.
import type {
  ContentBlock,
  OutputConfig,
  RawContentBlockDelta,
  StopReason,
} from '@anthropic-ai/sdk/resources/messages/messages';

/** Values of `stop_reason`. */
export type WireStopReason = StopReason;
/** Values of `output_config.effort`. */
export type WireEffort = NonNullable<OutputConfig['effort']>;
/** `type` of the documented answer blocks; betas add others. */
export type WireBlockType = ContentBlock['type'];
/** `type` of the documented deltas; betas add others. */
export type WireDeltaType = RawContentBlockDelta['type'];
/** `error.type`, clients-and-conventions §3; checked against the SDK's error classes. */
export type WireErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'billing_error'
  | 'permission_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'request_too_large'
  | 'rate_limit_error'
  | 'timeout_error'
  | 'overloaded_error'
  | 'api_error';
