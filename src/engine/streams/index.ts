// Kept streams: written once, and read by any number of clients from any position.
export type { RemoteStream, RemoteStreams } from './remote-streams.ts';
export { KeepingClient } from './keeping-client.ts';
export { KeptStream } from './kept-stream.ts';
export { type Gone, KeptStreams } from './kept-streams.ts';
export { keepingOf, prefersAsync, requireWhole, type StreamSettings } from './stream-patience.ts';
export { SharedAnswer } from './shared-answer.ts';
