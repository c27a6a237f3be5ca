// What the server may know of the engine: the gateway, what one call is, and the settings it runs under; and, for whoever
// examines endpoints, how to ask one.
export { askForAnswer, type AnswerAsking, type AskedAnswer } from './ask-for-answer.ts';
export { askUpstream } from './ask-upstream.ts';
export type { ApiCall, Client, ClientStream, Encoding, ExplainCall, TurnMemory } from './call.ts';
export type { Counted } from './count-input.ts';
export { Gateway } from './gateway.ts';
export { headerText } from './generation.ts';
export type { GatewayDependencies } from './dependencies.ts';
export { namesPrompt, promptedBody } from './prompt.ts';
export { outputOf, previousItems } from './previous-items.ts';
export { retryHeaders } from './refuse.ts';
export { expiryOf, type EngineSettings, type Timeouts } from './settings.ts';
export { upstreamHeaders } from './upstream-headers.ts';
