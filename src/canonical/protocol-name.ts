// The names of the dialects. Must not know which there are: each protocol's own folder adds its name.

/** One member for each protocol, added by its folder (`declare module`). */
export interface ProtocolNames {}

/** The name of a dialect that Dragoman speaks. */
export type ProtocolName = keyof ProtocolNames & string;
