// Roles of API keys. There are two, so that a key that leaks from an application cannot reconfigure the gateway.

/** `models`: calls models and stores objects. `admin`: manages the gateway. */
export const KEY_ROLES = ['models', 'admin'] as const;
export type KeyRole = (typeof KEY_ROLES)[number];
