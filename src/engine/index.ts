// What the server may know of the engine: the gateway, what one call is, and the settings it runs under; and, for whoever
// examines endpoints, how to ask one.
export { askForAnswer, type AnswerAsking, type AskedAnswer } from './attempt/index.ts';
export { askUpstream, collectAnswer } from './attempt/index.ts';
export type { ApiCall, Client, ClientStream, Encoding, ExplainCall, TurnMemory } from './call.ts';
export type { Counted } from './count-input.ts';
export { Gateway } from './gateway.ts';
export type { GatewayDependencies } from './dependencies.ts';
export { EndUsers } from './end-users.ts';
export { namesPrompt, promptedBody } from './admit/index.ts';
export { outputOf, previousItems } from './admit/index.ts';
export { headerText, retryHeaders } from './answer/index.ts';
export type { AnswerExchange, AnswerSource, FollowedEnd, Publication, PublicAnswer } from './answer/index.ts';
export { withLateCounts } from './late-counts.ts';
export type { RemoteCall } from './relay-remote.ts';
export type { Settlement, SettlementObserver, ToolRun } from './settlement.ts';
export type { AttemptTape, Tape, Tapes } from './tape.ts';
export { expiryOf, type EngineSettings, type Timeouts } from './settings.ts';
