// Names of the protocols. Each protocol's folder adds its own name.

/** One member per protocol, added by its folder (`declare module`). */
export interface ProtocolNames {}

/** Name of a protocol that Dragoman speaks. */
export type ProtocolName = keyof ProtocolNames & string;
