// Values of `on_disconnect`: what happens to an answer when its client disconnects. Set in the configuration, on keys, and
// by a request header.

/** `abort`, `continue`, or `continue:<seconds>s`. */
export const ON_DISCONNECT = /^(?:abort|continue(?::(\d{1,6})s)?)$/;
export const ON_DISCONNECT_HINT =
  'must be `abort`, `continue`, or `continue:` and a duration, for example `continue:30s`';
