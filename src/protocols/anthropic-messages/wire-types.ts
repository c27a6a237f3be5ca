// The words of the Messages API that our tables must cover, taken from the official SDK's types so that a new
// word breaks the type check. Types only: knows nothing of the canonical model.
import type { OutputConfig, StopReason } from '@anthropic-ai/sdk/resources/messages/messages';
import type { ErrorType } from '@anthropic-ai/sdk/resources/shared';

/** Values of `stop_reason`. */
export type WireStopReason = StopReason;
/** Values of `output_config.effort`. */
export type WireEffort = NonNullable<OutputConfig['effort']>;
/** Values of `error.type`; `request_too_large` comes from the edge and is only in the API reference ("Errors"). */
export type WireErrorType = Exclude<ErrorType, `memory_${string}`> | 'request_too_large';
