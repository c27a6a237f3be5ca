// The loop over the tools that the gateway runs itself: turns of a model, calls between them, one answer to the client. The
// tools themselves are in `src/engine/tools`.
export { AnsweredCalls } from './answered-calls.ts';
export { ToolRegistry } from './tool-registry.ts';
export { ToolLoop } from './tool-loop.ts';
