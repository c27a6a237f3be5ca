// Loop over gateway tools: model turns, tool calls between them, and one answer to the client. The tools are in
// `src/engine/tools`.
export { ApprovedCalls } from './approved-calls.ts';
export { ToolRegistry } from './tool-registry.ts';
export { ToolLoop } from './tool-loop.ts';
