// The words of the Gemini API that our tables must cover, taken from the official SDK's types so that a new word
// breaks the type check. Types only: knows nothing of the canonical model.
import type { FinishReason, FunctionCallingConfigMode, ThinkingLevel } from '@google/genai';

/** Values of `candidates[].finishReason`. */
export type WireFinishReason = `${FinishReason}`;
/** Values of `generationConfig.thinkingConfig.thinkingLevel`. */
export type WireThinkingLevel = `${ThinkingLevel}`;
/** Values of `toolConfig.functionCallingConfig.mode`. */
export type WireCallingMode = `${FunctionCallingConfigMode}`;
