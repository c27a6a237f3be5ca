// Enumerations of the Messages API that the tables here must cover. They come from the official SDK, so a new value
// breaks the type check.
import type { OutputConfig, StopReason } from '@anthropic-ai/sdk/resources/messages/messages';
import type { ErrorType } from '@anthropic-ai/sdk/resources/shared';

/** Values of `stop_reason`. */
export type WireStopReason = StopReason;
/** Values of `output_config.effort`. */
export type WireEffort = NonNullable<OutputConfig['effort']>;
/** Values of `error.type`. `request_too_large` comes from the edge and is only in the API reference ("Errors"). */
export type WireErrorType = Exclude<ErrorType, `memory_${string}`> | 'request_too_large';
