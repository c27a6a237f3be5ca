// Keys: how they are made, stored, found again and refused.
export * from './admin-sign-in.ts';
export * from './key-format.ts';
export * from './key-index.ts';
export * from './keys-commands.ts';
export * from './operator-token.ts';
export * from './principal.ts';
