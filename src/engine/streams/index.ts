// Streams that are kept: written once, read by any number of clients, from wherever each has got to.
export type { RemoteStream, RemoteStreams } from './remote-streams.ts';
export { EventNumbers } from './event-numbers.ts';
export { KeepingClient } from './keeping-client.ts';
export { KeptStream, type Patience } from './kept-stream.ts';
export { type Gone, KeptStreams, type StreamLimits } from './kept-streams.ts';
export { type Keeping, keepingOf, type StreamSettings } from './wanted.ts';
export { SharedAnswer, type SharedAnswerHooks } from './shared-answer.ts';
