// Enumerations of the Gemini API that the tables here must cover. They come from the official SDK, so a new value
// breaks the type check.
import type { FinishReason, FunctionCallingConfigMode, ThinkingLevel } from '@google/genai';

/** Values of `candidates[].finishReason`. */
export type WireFinishReason = `${FinishReason}`;
/** Values of `generationConfig.thinkingConfig.thinkingLevel`. */
export type WireThinkingLevel = `${ThinkingLevel}`;
/** Values of `toolConfig.functionCallingConfig.mode`. */
export type WireCallingMode = `${FunctionCallingConfigMode}`;
