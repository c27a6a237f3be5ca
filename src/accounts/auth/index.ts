// API keys and projects: creation, storage, lookup and authentication.
export { adminSignIn, type AdminSignIn, isOperator } from './admin-sign-in.ts';
export type { ConfiguredTenants } from './configured.ts';
export { KeyCommands } from './key-commands.ts';
export type { KeySettings, NewKey } from './key-commands.ts';
export * from './key-format.ts';
export { KeyIndex, presentedKey, withRole } from './key-index.ts';
export type { KeyView } from './key-view.ts';
export { OneTimeCodes, signInCode } from './one-time-codes.ts';
export * from './operator-token.ts';
export type { Principal } from './principal.ts';
export { ProjectCommands } from './project-commands.ts';
export type { ProjectView } from './project-commands.ts';
export type { Tenants } from './tenants.ts';
export * from './tenant-json.ts';
