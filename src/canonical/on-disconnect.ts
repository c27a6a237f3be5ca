// Fate of an answer whose client leaves: the words of the configuration, of keys and of a request's header.

/** `abort`, `continue`, or `continue:<seconds>s`. */
export const ON_DISCONNECT = /^(?:abort|continue(?::(\d{1,6})s)?)$/;
export const ON_DISCONNECT_HINT = 'must be `abort`, `continue`, or e.g. `continue:30s`';
