// Uses of an API key. There are two roles, so that a key that leaks from a program cannot change the gateway.

/** `models`: to call models and to keep things; `admin`: to manage the gateway. */
export const KEY_ROLES = ['models', 'admin'] as const;
export type KeyRole = (typeof KEY_ROLES)[number];
